// Keeps the query and the fragment, which a meta refresh loses.
const target = document.querySelector("link[rel=canonical]").href;
location.replace(target + location.search + location.hash);
