// Before the page is drawn: the reader's choice, if there is one.
const chosen = (() => { try { return localStorage.getItem('theme') } catch { return null } })();
if (chosen) document.documentElement.dataset.theme = chosen;
