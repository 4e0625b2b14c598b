// Keeps the query and the fragment, which a meta refresh loses. Where a note is to be read first, the refresh leads on.
const target = document.querySelector("link[rel=canonical]").href + location.search + location.hash;
const wait = Number(document.currentScript.dataset.seconds);
if (wait === 0) location.replace(target);
else document.addEventListener("DOMContentLoaded", () => document.querySelector("main a").setAttribute("href", target));
