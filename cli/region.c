/* dploc region: what a box covers, before it is used. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "manual.h"

static const double SIDES_M[] = {100, 250, 500, 1000};
enum { N_SIDES = sizeof SIDES_M / sizeof *SIDES_M };

/* Kilometres of the box, west to east and south to north. */
static void box_km(const struct dpl_grid *grid, double *width_km, double *height_km) {
    const struct dpl_area *area = &grid->area;
    *width_km = (area->east_deg - area->west_deg) * grid->m_per_deg_lon / 1000;
    *height_km = (area->north_deg - area->south_deg) * grid->m_per_deg_lat / 1000;
}

static enum dpl_status cells_at(struct cli *cli, struct dpl_area area, double side_m,
                                int64_t *cells) {
    struct dpl_grid grid;
    area.cell_m = side_m;
    *cells = -1; // more than a grid may have
    if (dpl_grid_make(cli->run, &area, &grid) == DPL_OK) *cells = dpl_grid_cells(&grid);
    return DPL_OK;
}

static void print_words(struct cli *cli, const struct data_options *data,
                        const struct dpl_grid *grid, const char *asked) {
    const struct dpl_area *area = &grid->area;
    double width_km, height_km;
    box_km(grid, &width_km, &height_km);
    printf("%s: %.4f to %.4f north, %.4f to %.4f east\n", asked, area->south_deg, area->north_deg,
           area->west_deg, area->east_deg);
    printf("size: %.1f x %.1f km, %.0f km2; time zone %s\n", width_km, height_km,
           width_km * height_km, area->zone);
    for (size_t i = 0; i < N_SIDES; i++) {
        int64_t cells;
        cells_at(cli, *area, SIDES_M[i], &cells);
        if (cells < 0)
            printf("  --cell %-5g too many cells for this box\n", SIDES_M[i]);
        else
            printf("  --cell %-5g %lld cells\n", SIDES_M[i], (long long)cells);
    }
    if (data->region)
        printf("use it with --region %s%s%s\n", data->region, data->regions ? " --regions " : "",
               data->regions ? data->regions : "");
    else
        printf("use it with --bbox %s --tz %s\n", data->bbox, area->zone);
    puts("a box comes from a public map (openstreetmap.org/export shows one), never from the data");
}

static void print_json(struct cli *cli, const struct dpl_grid *grid) {
    const struct dpl_area *area = &grid->area;
    double width_km, height_km;
    box_km(grid, &width_km, &height_km);
    printf("{\"bbox\": [%.10g, %.10g, %.10g, %.10g], \"zone\": \"%s\", \"width_km\": %.3f, "
           "\"height_km\": %.3f, \"cells\": {",
           area->south_deg, area->west_deg, area->north_deg, area->east_deg, area->zone, width_km,
           height_km);
    for (size_t i = 0; i < N_SIDES; i++) {
        int64_t cells;
        cells_at(cli, *area, SIDES_M[i], &cells);
        printf("%s\"%g\": %lld", i ? ", " : "", SIDES_M[i], (long long)cells);
    }
    puts("}}");
}

static int region_main(struct cli *cli, int argc, char **argv) {
    static struct data_options data;
    data_options_init(&data);
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){data.table}, 1);
    if (ended >= 0) return ended;
    if (cli->n_inputs != 1)
        return cli_finish(cli, cli_usage(cli, "name one region or one box S,W,N,E ('dploc --list "
                                              "regions' has the names)"));
    const char *asked = cli->inputs[0];
    if (strchr(asked, ','))
        data.bbox = asked;
    else
        data.region = asked;
    bool given;
    struct dpl_grid grid;
    enum dpl_status status = data_options_area(cli, &data, true, &given);
    if (status == DPL_OK) status = dpl_grid_make(cli->run, &data.area, &grid);
    if (status != DPL_OK) return cli_finish(cli, status);
    if (cli->json)
        print_json(cli, &grid);
    else
        print_words(cli, &data, &grid, asked);
    return cli_finish(cli, DPL_OK);
}

const struct command command_region = {
    .bit = IN_REGION,
    .name = "region",
    .summary = "what a region or box covers: size, cells, time zone",
    .usage = "NAME\n"
             "S,W,N,E [--tz ZONE]",
    .arguments = "=regions",
    .about = "Explains a region or a box: its size, how many cells it has, its time zone, and "
             "the options that select it. Looks at no data: a box must come from a public map,"
             " never from the data.",
    .examples = "dploc region simulated\n"
                "dploc region 50.8,9.6,50.9,9.8 --tz Europe/Berlin\n",
    .main = region_main,
};
