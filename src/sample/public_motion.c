/* How trips of made-up cities move: weights of motions in coarse bins, for models that measured
 * none. Made by bench/motion; not to be edited. PRIVACY: public, from `dploc simulate` alone. */
#include "sample/motion.h"

// clang-format off
static const float WEIGHT[] = {
    0.529f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0217f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.00981f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0109f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.023f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0385f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.987f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0299f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.119f, 0.0856f, 0.0626f, 0.0419f, 0.0157f, 0.159f, 0.0791f, 0.0629f, 0.034f, 0.00637f,
    0.223f, 0.0858f, 0.0522f, 0.0431f, 0.0121f, 0.273f, 0.119f, 0.0818f, 0.0692f, 0.0212f,
    0.235f, 0.146f, 0.126f, 0.0883f, 0.0535f, 1.18f, 0.86f, 0.876f, 0.807f, 0.591f,
    0.0113f, 1.0f, 1.0f, 1.0f, 1.0f, 0.104f, 0.0726f, 0.0627f, 0.0267f, 0.00671f,
    5.39f, 2.35f, 1.28f, 0.412f, 0.00547f, 4.84f, 2.02f, 1.15f, 0.634f, 0.00822f,
    0.181f, 0.103f, 0.103f, 0.115f, 0.00725f, 0.061f, 0.0338f, 0.0368f, 0.0405f, 0.00784f,
    0.508f, 0.444f, 0.294f, 0.294f, 0.168f, 0.0345f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.256f, 0.0735f, 0.0586f, 0.0366f, 0.00728f, 5.4f, 2.29f, 1.38f, 0.586f, 0.00799f,
    23.8f, 7.43f, 2.98f, 1.53f, 0.0129f, 0.972f, 0.451f, 0.487f, 0.467f, 0.0123f,
    0.0515f, 0.0449f, 0.098f, 0.106f, 0.0074f, 0.533f, 0.379f, 0.196f, 0.165f, 0.0796f,
    0.0828f, 1.0f, 1.0f, 1.0f, 1.0f, 0.111f, 0.0765f, 0.0472f, 0.0336f, 0.0168f,
    0.16f, 0.107f, 0.113f, 0.111f, 0.00534f, 1.07f, 0.463f, 0.379f, 0.33f, 0.0106f,
    3.67f, 1.13f, 0.68f, 0.392f, 0.0176f, 0.43f, 0.403f, 0.413f, 0.232f, 0.017f,
    0.283f, 0.229f, 0.259f, 0.216f, 0.166f, 0.0708f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.202f, 0.132f, 0.0781f, 0.0831f, 0.0384f, 0.0433f, 0.0422f, 0.0352f, 0.0271f, 0.00681f,
    0.0543f, 0.0493f, 0.0552f, 0.0468f, 0.00525f, 0.513f, 0.353f, 0.312f, 0.192f, 0.0209f,
    6.84f, 2.22f, 2.24f, 0.349f, 0.0576f, 0.467f, 0.378f, 0.376f, 0.242f, 0.302f,
    0.466f, 1.0f, 1.0f, 1.0f, 1.0f, 0.889f, 0.777f, 0.719f, 0.615f, 0.484f,
    0.77f, 0.619f, 0.506f, 0.355f, 0.154f, 0.239f, 0.186f, 0.167f, 0.116f, 0.0782f,
    0.299f, 0.253f, 0.187f, 0.112f, 0.15f, 0.907f, 0.466f, 0.406f, 0.223f, 0.404f,
    1.35f, 0.973f, 1.41f, 0.633f, 1.26f, 0.388f, 0.0879f, 2.0f, 2.51f, 0.401f,
    0.0384f, 0.00645f, 0.961f, 0.346f, 2.94f, 2.16f, 0.476f, 0.0979f, 0.00885f,
};
// clang-format on
enum { SPEEDS = DPL_MOTION_SPEEDS / 2, TURNS = DPL_MOTION_TURNS / 2 };
_Static_assert(sizeof WEIGHT / sizeof *WEIGHT == SPEEDS * SPEEDS * TURNS + 2 * SPEEDS,
               "one weight for each coarse motion");

struct dpl_motion dpl_motion_public(void) {
    return (struct dpl_motion){.bins = dpl_motion_bins_make(false), .weight = WEIGHT};
}
