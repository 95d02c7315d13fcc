// Colours of the page: distinguishable with any kind of colour vision, in light and in dark.
//
// Scales are interpolated in OKLab, where equal steps look equal. The sequential one runs through
// blue, teal and yellow with lightness
// going one way only, so it also reads in grey; "more" is always what stands out from the paper.
// The diverging one is blue against orange.

const toLinear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const toGamma = (c) => (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);

function toLab(hex) {
    const [r, g, b] = [1, 3, 5].map((i) => toLinear(parseInt(hex.slice(i, i + 2), 16) / 255));
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
}

function toCss([L, a, b]) {
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const rgb = [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
    return `rgb(${rgb.map((c) => Math.round(255 * Math.min(1, Math.max(0, toGamma(Math.max(0, c)))))).join(",")})`;
}

// A function from 0 ... 1 to a colour, through the given ones at equal distances; a table of 256,
// since maps ask often.
function scale(hexes) {
    const stops = hexes.map(toLab);
    const colours = Array.from({length: 256}, (_, i) => {
        const at = (i / 255) * (stops.length - 1),
            k = Math.min(stops.length - 2, Math.floor(at)),
            t = at - k;
        return toCss(stops[k].map((c, j) => c + t * (stops[k + 1][j] - c)));
    });
    return (part) => colours[Math.round(255 * Math.min(1, Math.max(0, part)))];
}

const LIGHT = {
    dark: false,
    ink: "#17202b",
    soft: "#566171",
    line: "#dfe3e8",
    card: "#ffffff",
    backdrop: "#b9c2cd",
    alarm: "#b3400a",
    alarmFill: "rgba(213,94,0,.10)",
    real: "#6a7480",
    realFill: "rgba(106,116,128,.20)",
    floor: "#6a7480",
    sets: ["#0b6fb8", "#d55e00", "#00875f", "#b3589a", "#8a6d00", "#3a9bd6", "#6b4fb3", "#7a3e12"],
    sequential: scale(["#f3efb4", "#a7d68c", "#43a99a", "#22718f", "#1d3f78", "#141c46"]),
    ground: scale(["#f1f3f6", "#c9d1da"]),
    diverging: scale(["#b34a00", "#ec9a54", "#f4f4f2", "#6aaee0", "#0a4d8c"].reverse()),
};
const DARK = {
    dark: true,
    ink: "#e7ecf2",
    soft: "#9aa7b6",
    line: "#2a3441",
    card: "#171e27",
    backdrop: "#4a5767",
    alarm: "#ff9a62",
    alarmFill: "rgba(255,154,82,.12)",
    real: "#aab4c0",
    realFill: "rgba(170,180,192,.20)",
    floor: "#aab4c0",
    sets: ["#58b0f0", "#ff9a52", "#3fc79a", "#e29acb", "#d9bf4a", "#8fd0f5", "#b29cf0", "#d39a6a"],
    sequential: scale(["#1d2b55", "#20557f", "#23838a", "#53ae7e", "#b5cf5f", "#fdf08a"]),
    ground: scale(["#1d2530", "#3a4757"]),
    diverging: scale(["#ff9440", "#a85a22", "#232a33", "#2a6ea8", "#6cc0ff"].reverse()),
};

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;
export const theme = () => (prefersDark.matches && !printing ? DARK : LIGHT);

// Calls back when the theme changes; paper is always light.
export function onTheme(callback) {
    prefersDark.addEventListener("change", callback);
    window.addEventListener("beforeprint", () => ((printing = true), callback()));
    window.addEventListener("afterprint", () => ((printing = false), callback()));
}

export const gradient = (colours) =>
    `linear-gradient(90deg, ${Array.from({length: 13}, (_, i) => colours(i / 12)).join(", ")})`;
