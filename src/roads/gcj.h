/* GCJ-02: the shifted coordinates that maps and data of mainland China come in. */
#ifndef DPL_ROADS_GCJ_H
#define DPL_ROADS_GCJ_H

/* Degrees of WGS 84 to those of GCJ-02; nothing happens outside China's box. */
void dpl_gcj_shift(double *lat_deg, double *lon_deg);
/* The way back, to about a millimetre. */
void dpl_gcj_unshift(double *lat_deg, double *lon_deg);

#endif
