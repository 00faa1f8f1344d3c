/* The theme's script, which Debian ships as a module that no browser loads by itself: here is what the pages need of it,
 * the button that changes between light, dark and the system's choice. */
const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
    document.body.dataset.theme = theme;
    localStorage.setItem("theme", theme);
}

document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.getElementsByClassName("theme-toggle"))
        button.addEventListener("click", () => {
            const current = THEMES.indexOf(localStorage.getItem("theme") || "auto");
            setTheme(THEMES[(current + 1) % THEMES.length]);
        });
});
