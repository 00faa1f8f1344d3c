/* Sets the formulas of a page. */
document.addEventListener("DOMContentLoaded", () => {
    for (const formula of document.querySelectorAll(".math"))
        renderMathInElement(formula, { throwOnError: false });
});
