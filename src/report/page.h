/* The page as the build made it from web/: HTML with style and script inside, and the mark where
 * the island goes. */
#ifndef DPL_REPORT_PAGE_H
#define DPL_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char dpl_page[];
extern const size_t dpl_page_size;

#endif
