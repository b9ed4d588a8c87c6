"use strict";
(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const tip = document.getElementById("tip");
  const live = document.getElementById("live");
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Text only: names come from the data and are never markup.
  function show(lines, x, y, speak) {
    tip.replaceChildren(...lines.map((line, i) => {
      const row = document.createElement(i ? "div" : "strong");
      row.textContent = line;
      return row;
    }));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 8));
    const below = y + 18 + box.height < innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? y + 18 : Math.max(8, y - box.height - 12)}px`;
    if (speak) live.textContent = lines.join(". ");
  }
  const hide = () => { tip.hidden = true; };

  document.addEventListener("pointermove", (event) => {
    const target = event.target.closest ? event.target.closest("[data-tip]") : null;
    if (target) show(target.dataset.tip.split("\n"), event.clientX, event.clientY);
    else if (!event.target.closest || !event.target.closest(".probe")) hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, true);

  // --- tables: sort by a column, search in rows ---
  const value = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.v;
    if (given === undefined) return cell.textContent.trim().toLowerCase();
    return given === "" ? Infinity : Number(given);
  };
  const collator = new Intl.Collator(undefined, { numeric: true });
  for (const button of all("th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const body = head.closest("table").tBodies[0];
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of head.parentNode.cells) {
        if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      }
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = [...body.rows].map((row) => [value(row, head.cellIndex), row]);
      keyed.sort(([a], [b]) => {
        if (a === Infinity || b === Infinity) return a === b ? 0 : a === Infinity ? 1 : -1;
        const order = typeof a === "number" ? a - b : collator.compare(a, b);
        return up ? order : -order;
      });
      body.append(...keyed.map(([, row]) => row));
    });
  }
  for (const field of all("input[type=search]")) {
    const rows = all("tbody tr", document.getElementById(field.dataset.table));
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const count = document.getElementById(field.getAttribute("aria-describedby"));
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        found += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? `${found} of ${rows.length} shown` : "";
    });
  }

  // --- figures that are probed by pointer or arrow keys ---
  const figure = (x) => {
    if (x === null || x === undefined) return "not known";
    const digits = Math.abs(x) >= 100 ? 0 : 1;
    const text = Math.abs(x).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return `${Number(x.toFixed(digits)) === 0 ? "" : x < 0 ? "−" : "+"}${text} %`;
  };
  function probe(holder, at, step, words) {
    const svg = holder.querySelector("svg");
    let place = null;
    const tell = (next, x, y, speak) => {
      place = next;
      show(words(svg, next), x, y, speak);
    };
    holder.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      const next = at(svg, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
      if (next) tell(next, event.clientX, event.clientY);
      else hide();
    });
    holder.addEventListener("pointerleave", hide);
    holder.addEventListener("blur", hide);
    holder.addEventListener("keydown", (event) => {
      const next = step(svg, place, event.key);
      if (!next) return;
      event.preventDefault();
      const box = holder.getBoundingClientRect();
      tell(next, Math.max(0, box.left) + 60, Math.min(innerHeight - 90, Math.max(0, box.top) + 60), true);
    });
  }
  const inside = (i, m) => i >= 0 && i < m;
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const moved = (m, place, key) => {
    if (!arrows[key]) return null;
    if (!place) return [0, 0];
    const clamp = (i) => Math.max(0, Math.min(m - 1, i));
    return [clamp(place[0] + arrows[key][0]), clamp(place[1] + arrows[key][1])];
  };

  const heat = facts.map;
  for (const holder of all(".probe[data-kind=heat]")) {
    const m = heat.names.length;
    probe(holder, (svg, x, y) => {
      const cell = Number(svg.dataset.cell);
      const i = Math.floor((x - svg.dataset.x) / cell);
      const j = Math.floor((y - svg.dataset.y) / cell);
      return inside(i, m) && inside(j, m) ? [i, j] : null;
    }, (svg, place, key) => moved(m, place, key), (svg, [i, j]) => {
      const cell = Number(svg.dataset.cell);
      const cursor = svg.querySelector(".cursor");
      cursor.setAttribute("x", Number(svg.dataset.x) + i * cell);
      cursor.setAttribute("y", Number(svg.dataset.y) + j * cell);
      cursor.setAttribute("width", cell);
      cursor.setAttribute("height", cell);
      const place = (k) => (heat.cluster[k] ? ` (cluster ${heat.cluster[k]})` : "");
      if (i === j) return [heat.names[i] + place(i), "with itself"];
      const [a, b] = i < j ? [i, j] : [j, i];
      const index = a * m - (a * (a + 1)) / 2 + (b - a - 1);
      const lines = [`${heat.names[a]}${place(a)}  +  ${heat.names[b]}${place(b)}`];
      const gain = heat.gain[index];
      lines.push(gain === null ? "gain not known: too few rows, or not judged" : `gain ${figure(gain)} of the error`);
      const ends = heat.ends[index];
      if (ends) {
        if (ends[0] !== null && ends[1] !== null) lines.push(`interval ${figure(ends[0])} to ${figure(ends[1])}`);
        else if (ends[0] !== null) lines.push(`interval: at least ${figure(ends[0])}`);
        else if (ends[1] !== null) lines.push(`interval: at most ${figure(ends[1])}`);
      }
      const verdict = Number(heat.verdict[index]);
      lines.push(verdict ? `verdict: ${heat.verdicts[verdict]}` : "not judged");
      return lines;
    });
  }

  for (const holder of all(".probe[data-kind=panel]")) {
    const feature = facts.panels[holder.querySelector("svg").dataset.panel];
    const m = facts.names.length;
    probe(holder, (svg, x) => {
      const i = Math.floor((x - svg.dataset.x) / svg.dataset.step);
      return inside(i, m) ? [i, 0] : null;
    }, (svg, place, key) => moved(m, place, key), (svg, [i]) => {
      const x = Number(svg.dataset.x) + (i + 0.5) * svg.dataset.step;
      svg.querySelector(".cursor").setAttribute("d", `M${x} ${svg.dataset.y}v${svg.dataset.h}`);
      const own = feature.value[i];
      const c = facts.cluster[i];
      const lines = [`${facts.names[i]} (cluster ${c})`];
      lines.push(own === null ? "its own rows do not tell this coefficient"
        : `${feature.name}: ${own} (${feature.low[i]} to ${feature.high[i]})`);
      lines.push(`cluster ${c}: ${feature.model[c - 1]}`);
      return lines;
    });
  }
})();
