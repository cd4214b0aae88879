// Before the first paint: takes the system's theme, and hides the page until scripts have filled it, so that nothing moves.
document.documentElement.classList.add("filling");
document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
