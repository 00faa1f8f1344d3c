/* Sets the formulas of a page: each stands between \( and \), or \[ and \]. */
document.addEventListener("DOMContentLoaded", () => {
    for (const formula of document.querySelectorAll(".math")) {
        const text = formula.textContent.trim();
        const displayMode = text.startsWith("\\[");
        katex.render(text.slice(2, -2), formula, { displayMode, throwOnError: false });
    }
});
