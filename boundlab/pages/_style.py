"""Style and script of the page: nothing is fetched, and without the script everything can be read."""

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--text:#1b1f24;--dim:#57606a;--line:#d0d7de;--panel:#f6f8fa;
--good:#1a6b3c;--bad:#b3261e;--open:#7a5200;--marked:#fff0b8;--link:#0550ae;--c0:#0060a8;--c1:#b84a00;--c2:#00734f;--c3:#8f3f77}
@media (prefers-color-scheme:dark){:root{--ground:#0f1318;--text:#e6e9ee;--dim:#a6afba;--line:#3a424c;--panel:#181e26;
--good:#6fcf97;--bad:#ff8a80;--open:#f2c14e;--marked:#4d3f00;--link:#79b8ff;--c0:#6cb8ff;--c1:#ff9e5e;--c2:#53cfa2;--c3:#e39acb}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:60rem;background:var(--ground);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
p{margin:.5rem 0}
ul{margin:.3rem 0;padding-left:1.4rem}
code,pre,.formula{font-family:ui-monospace,"Cascadia Mono","DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.9em}
a{color:var(--link)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;font-size:.9rem}
.banner{border-left:.4rem solid var(--open);background:var(--panel);padding:.6rem 1rem;margin:1rem 0}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}.open{color:var(--open);font-weight:600}
.banner.bad,.banner.good,.banner.open{color:var(--text);font-weight:400}
.banner.bad{border-color:var(--bad)}.banner.good{border-color:var(--good)}.dim{color:var(--dim)}
mark{background:var(--marked);color:var(--text);font-weight:600;padding:0 .15em}
.formula,.formulas{background:var(--panel);padding:.5rem .8rem;margin:.5rem 0;overflow-x:auto}
.formula{white-space:pre-wrap}.formulas div{margin:.45rem 0}
math{font-family:"STIX Two Math","Latin Modern Math","Cambria Math","Noto Sans Math",math;width:fit-content;margin:0}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.9rem;min-width:100%}
caption{text-align:left;color:var(--dim);padding-bottom:.2rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line)}
td.wide{min-width:12em;overflow-wrap:anywhere}
th.number,td.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible,.copy:focus-visible,summary:focus-visible,a:focus-visible,.scroll:focus-visible{
outline:2px solid var(--link);outline-offset:2px}
th[aria-sort=ascending] button::after{content:" \\25B2"}th[aria-sort=descending] button::after{content:" \\25BC"}
details{border:1px solid var(--line);border-radius:.3rem;padding:.3rem .8rem;margin:.6rem 0}
summary{cursor:pointer;font-weight:600}
.command{display:flex;gap:.5rem;align-items:flex-start;background:var(--panel);padding:.3rem .6rem;margin:.3rem 0}
.command code{flex:1;min-width:0;white-space:pre-wrap;overflow-wrap:anywhere}
.option{white-space:nowrap}
.copy{font:inherit;font-size:.8rem;padding:.1rem .5rem;border:1px solid var(--line);border-radius:.3rem;
background:var(--ground);color:var(--text);cursor:pointer}
figure{margin:1rem 0}figure>svg{width:100%;height:auto;max-width:44rem}
figcaption{font-size:.9rem}.key{display:inline-block;margin-right:1.2rem}.sample{width:2.2rem;height:.75rem}
svg text{fill:var(--text);font-size:13px}svg .tick,svg .name{text-anchor:middle}svg .up{text-anchor:end}
svg .axis{fill:none;stroke:var(--dim)}svg .grid{stroke:var(--line);stroke-width:.7}
.curve path{fill:none}.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}
.curve path{stroke:var(--c)}.curve circle{fill:var(--c)}
@media (max-width:40rem){body{padding:.7rem}.command{flex-direction:column}}
@media print{:root{--ground:#fff;--text:#000;--dim:#444;--line:#bbb;--panel:#f4f4f4;--good:#1a6b3c;--bad:#b3261e;
--open:#7a5200;--marked:#fff0b8;--link:#000;--c0:#0060a8;--c1:#b84a00;--c2:#00734f;--c3:#8f3f77}
nav,.copy{display:none}body{max-width:none;font-size:10pt;padding:0}h2{break-after:avoid}
figure,tr,.command,.banner{break-inside:avoid}.scroll,.formula,.formulas{overflow:visible}}
"""

SCRIPT = """
"use strict";
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (!document.execCommand("copy")) { return; }
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const one of heads) { one.removeAttribute("aria-sort"); }
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const text = (row) => row.cells[column].textContent;
      const order = (a, b) => text(a).localeCompare(text(b), "en", { numeric: true });
      const numbers = (a, b) => Number(text(a)) - Number(text(b));
      const rows = [...table.tBodies[0].rows].sort(head.classList.contains("number") ? numbers : order);
      table.tBodies[0].append(...(up ? rows : rows.reverse()));
    });
  });
}
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const one of folded) { one.open = true; }
});
addEventListener("afterprint", () => { for (const one of folded) { one.open = false; } });
"""
