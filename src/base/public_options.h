/* Which options may stand in a certificate or a manifest. */
#ifndef DPL_BASE_PUBLIC_OPTIONS_H
#define DPL_BASE_PUBLIC_OPTIONS_H

#include <stdbool.h>

/* PRIVACY: a public choice, named as on the command line; nothing that depends on the data. */
bool dpl_option_public(const char *name);

#endif
