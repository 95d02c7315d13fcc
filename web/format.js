// Numbers as people read them, units included.
const grouped = new Intl.NumberFormat("en", {maximumFractionDigits: 0});

export const whole = (value) => grouped.format(value);

// Three or so significant digits, never an exponent in between.
export function plain(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size >= 1000) return grouped.format(value);
    if (size >= 100) return value.toFixed(0);
    if (size >= 10) return value.toFixed(1);
    if (size >= 1) return value.toFixed(2);
    if (size >= 0.1) return value.toFixed(3);
    return size >= 0.001 ? value.toFixed(size >= 0.01 ? 4 : 5) : value.toExponential(2);
}

export const percent = (share) => (share === null ? "–" : `${plain(100 * share)} %`);
// On axes: no more digits than are needed.
export const short = (value) => String(Number(value.toPrecision(3)));
export const percentTick = (share) => `${short(100 * share)} %`;
export const metres = (value) => (value === null ? "–" : `${plain(value)} m`);
export const kilometres = (value_m) => `${(value_m / 1000).toFixed(1)} km`;

// Certificates write an infinite epsilon as a word.
export const epsilon = (value) =>
    value === "infinity" || value === null ? "∞" : String(Number(Number(value).toPrecision(3)));
export const power = (value) => {
    const exponent = Math.floor(Math.log10(value)),
        mantissa = value / 10 ** exponent;
    const digits = String(exponent).replace(
        /./g,
        (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] || "⁻",
    );
    return Math.abs(mantissa - 1) < 1e-9 ? `10${digits}` : `${mantissa.toFixed(1)} · 10${digits}`;
};

const clock = (minute) =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(Math.round(minute % 60)).padStart(2, "0")}`;
export const clockOf = (seconds) => clock(Math.floor(seconds / 60));
export const periodStart = (period, periods) => clock((period * 1440) / periods);
export const periodName = (period, periods) =>
    `${periodStart(period, periods)} to ${clock(((period + 1) * 1440) / periods)}`;

export const position = (lat, lon) =>
    `${Math.abs(lat).toFixed(3)}° ${lat < 0 ? "S" : "N"}, ${Math.abs(lon).toFixed(3)}° ${lon < 0 ? "W" : "E"}`;
