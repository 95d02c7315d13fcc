/* How trips of made-up cities move: weights of motions in coarse bins, for models that measured
 * none. Made by bench/motion; not to be edited. PRIVACY: public, from `dploc simulate` alone. */
#include "sample/motion.h"

// clang-format off
static const float WEIGHT[] = {
    0.204f, 0.703f, 0.667f, 0.795f, 1.0f, 0.0302f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.0245f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0159f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.0446f, 1.0f, 1.0f, 1.0f, 1.0f, 0.115f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.727f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0197f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.154f, 0.115f, 0.0868f, 0.0426f, 0.019f, 0.103f, 0.056f, 0.0428f, 0.0298f, 0.00628f,
    0.111f, 0.095f, 0.0852f, 0.0341f, 0.00844f, 0.171f, 0.115f, 0.0746f, 0.0553f, 0.0263f,
    0.288f, 0.211f, 0.149f, 0.108f, 0.0567f, 0.862f, 0.79f, 0.765f, 0.692f, 0.553f,
    0.00871f, 1.0f, 1.0f, 1.0f, 1.0f, 0.113f, 0.0571f, 0.0623f, 0.0249f, 0.00645f,
    5.59f, 2.28f, 1.15f, 0.425f, 0.00842f, 4.12f, 1.88f, 0.914f, 0.551f, 0.00892f,
    0.12f, 0.119f, 0.111f, 0.162f, 0.00917f, 0.0602f, 0.0506f, 0.038f, 0.033f, 0.00837f,
    0.497f, 0.474f, 0.364f, 0.35f, 0.214f, 0.0135f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.118f, 0.0887f, 0.0657f, 0.0335f, 0.00868f, 5.38f, 2.41f, 1.53f, 0.6f, 0.00864f,
    23.1f, 7.53f, 3.03f, 1.46f, 0.0129f, 1.06f, 0.467f, 0.522f, 0.493f, 0.0141f,
    0.0725f, 0.0679f, 0.108f, 0.125f, 0.00794f, 0.404f, 0.373f, 0.257f, 0.204f, 0.0965f,
    0.0327f, 1.0f, 1.0f, 1.0f, 1.0f, 0.141f, 0.138f, 0.0731f, 0.0559f, 0.0212f,
    0.174f, 0.127f, 0.11f, 0.133f, 0.00801f, 1.12f, 0.497f, 0.418f, 0.357f, 0.0103f,
    3.56f, 1.06f, 0.675f, 0.363f, 0.0163f, 0.506f, 0.447f, 0.396f, 0.186f, 0.0129f,
    0.359f, 0.338f, 0.31f, 0.248f, 0.101f, 0.103f, 1.0f, 1.0f, 1.0f, 1.0f,
    0.241f, 0.211f, 0.124f, 0.111f, 0.0497f, 0.0604f, 0.0467f, 0.0389f, 0.0263f, 0.00788f,
    0.0648f, 0.0532f, 0.0588f, 0.0473f, 0.00639f, 0.609f, 0.374f, 0.382f, 0.185f, 0.0124f,
    5.43f, 1.88f, 1.63f, 0.193f, 0.0304f, 0.646f, 0.425f, 0.379f, 0.24f, 0.123f,
    0.589f, 1.0f, 1.0f, 1.0f, 1.0f, 0.814f, 0.765f, 0.742f, 0.704f, 0.566f,
    0.487f, 0.457f, 0.338f, 0.33f, 0.198f, 0.278f, 0.268f, 0.18f, 0.13f, 0.097f,
    0.407f, 0.325f, 0.207f, 0.187f, 0.0893f, 0.409f, 0.327f, 0.257f, 0.178f, 0.0961f,
    0.752f, 0.567f, 0.598f, 0.493f, 0.277f, 0.0825f, 0.0987f, 1.81f, 2.34f, 0.423f,
    0.0614f, 0.00653f, 0.13f, 0.397f, 2.53f, 2.17f, 0.498f, 0.108f, 0.0123f,
};
// clang-format on
enum { SPEEDS = DPL_MOTION_SPEEDS / 2, TURNS = DPL_MOTION_TURNS / 2 };
_Static_assert(sizeof WEIGHT / sizeof *WEIGHT == SPEEDS * SPEEDS * TURNS + 2 * SPEEDS,
               "one weight for each coarse motion");

struct dpl_motion dpl_motion_public(void) {
    return (struct dpl_motion){.bins = dpl_motion_bins_make(false), .weight = WEIGHT};
}
