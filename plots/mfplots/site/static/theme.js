// Before the first paint: the system's theme, and that scripts fill the page, which shows then, so that nothing moves.
document.documentElement.classList.add("filling");
document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
