// Before the first paint: the system's theme.
document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
