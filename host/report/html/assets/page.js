// Sorting, filtering and links to cells need nothing; hover and zoom need D3. Text from records goes in as text, never as
// markup.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const table = document.getElementById('table');
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const make = (tag, words, parent) => {
    const element = document.createElement(tag);
    if (words !== undefined) element.textContent = words;
    if (parent) parent.append(element);
    return element;
  };

  const scaled = (value, unit, prefixes) => {
    const found = prefixes.find(([factor]) => Math.abs(value) >= factor) || prefixes[prefixes.length - 1];
    return `${Number((value / found[0]).toPrecision(3))} ${found[1]}${unit}`;
  };
  const small = [[1, ''], [1e-3, 'm'], [1e-6, 'u'], [1e-9, 'n'], [1e-12, 'p']];
  const large = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];
  const binary = [[2 ** 40, 'Ti'], [2 ** 30, 'Gi'], [2 ** 20, 'Mi'], [2 ** 10, 'Ki'], [1, '']];
  const quantity = (value, unit) => {
    if (value === 0) return '0';
    if (unit === 's') return scaled(value, 's', small);
    if (unit === 'byte') return scaled(value, 'B', binary);
    if (unit.endsWith('/s') || unit === 'Hz') return scaled(value, unit, large);
    return `${Number(value.toPrecision(4))}${unit ? ' ' + unit : ''}`;
  };

  // --- Sorting and filtering ---------------------------------------------------------------------------------------
  const body = table.tBodies[0];
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
  };
  const words = new Intl.Collator('en', {numeric: true});  // localeCompare makes one for each pair
  const before = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : words.compare(String(a), String(b)));
  all('th', table.tHead).forEach((head, column) => {
    const button = make('button', head.textContent);
    button.type = 'button';
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      all('th', table.tHead).forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const rows = Array.from(body.rows).map(row => [value(row, column), row]);
      const empty = rows.filter(([v]) => v === ''), rest = rows.filter(([v]) => v !== '');
      rest.sort(([a], [b]) => (up ? before(a, b) : before(b, a)));
      body.append(...rest.concat(empty).map(([, row]) => row));
    });
  });
  const bar = make('p');
  bar.className = 'filter';
  const label = make('label', 'Filter ', bar);
  const input = make('input', undefined, label);
  input.type = 'search';
  input.placeholder = 'words, all of them';
  const count = make('span', ` ${data.cells.length} cells`, bar);
  const texts = new Map(Array.from(body.rows).map(row => [row, row.textContent.toLowerCase()]));
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of texts) {
      row.hidden = !words.every(word => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = ` ${shown} of ${data.cells.length} cells`;
  });
  table.parentElement.before(bar);

  // --- Links: #pitch_wide@H200, also by a part of the device's name ----------------------------------------------------
  const light = cells => {
    all('.lit').forEach(element => element.classList.remove('lit'));
    for (const cell of cells) all(`[data-cell="${cell}"]`).forEach(element => element.classList.add('lit'));
  };
  // A section is laid out when it comes into sight, and that can move the target: scroll again in the next frames.
  const bring = (element, block, again = 3) => {
    element.scrollIntoView({block});
    if (again) requestAnimationFrame(() => bring(element, block, again - 1));
  };
  const follow = () => {
    let wanted = location.hash.slice(1);
    try { wanted = decodeURIComponent(wanted); } catch { return; }
    const [id, device] = wanted.toLowerCase().split('@');
    let cell = data.cells.findIndex(c => c.anchor === wanted);
    if (cell < 0 && device)
      cell = data.cells.findIndex(c => c.anchor.toLowerCase().startsWith(id + '@') && data.devices[c.device].name.toLowerCase().includes(device));
    const element = document.getElementById(cell < 0 ? wanted : data.cells[cell].anchor);
    if (!element) return;
    if (cell < 0) return bring(element, 'start');
    element.hidden = false;
    const card = element.closest('details');
    if (card) card.open = true;
    bring(element, element === card ? 'start' : 'center');
    light([cell]);
  };
  window.addEventListener('hashchange', follow);
  // A second click on the link of the place where one is changes no address.
  document.addEventListener('click', event => { if (event.target.closest('a[href^="#"]')?.hash === location.hash) follow(); });
  follow();

  // --- Commands to copy ------------------------------------------------------------------------------------------------
  for (const command of all('.again')) {
    const words = command.textContent, button = make('button', 'copy', command);
    button.type = 'button';
    button.addEventListener('click', async () => {
      try { await navigator.clipboard.writeText(words); } catch { getSelection().selectAllChildren(command); document.execCommand('copy'); }
      button.textContent = 'copied';
    });
  }

  // --- Source lines and their instructions: pointing at one marks the other ---------------------------------------------
  for (const card of all('.code')) {
    const source = card.querySelector('.source');
    if (!source?.querySelector('[data-l]')) continue;
    make('p', 'Point at a line, or press the arrow keys in the source, to mark its instructions; and the other way round.', source.parentElement).className = 'dim';
    const panes = all('.source, .isa', card);
    // Within the pane only: the page stays where it is.
    const reveal = (pane, elements) => {
      const box = pane.getBoundingClientRect(), boxes = elements.map(element => element.getBoundingClientRect());
      if (boxes.length && boxes.every(b => b.top < box.top || b.bottom > box.bottom)) pane.scrollTop += boxes[0].top - box.top - box.height / 3;
    };
    const mark = (number, from) => {
      all('.on', card).forEach(element => element.classList.remove('on'));
      for (const pane of number ? panes : []) {
        const found = all(`[data-l="${number}"]`, pane);
        found.forEach(element => element.classList.add('on'));
        if (pane !== from) reveal(pane, found);
      }
    };
    for (const pane of panes) {
      const items = all('[data-l]', pane);
      let at = -1;
      pane.addEventListener('pointerover', event => {
        const item = event.target.closest('[data-l]');
        if (!item) return;
        at = items.indexOf(item);
        mark(item.dataset.l, pane);
      });
      pane.addEventListener('pointerleave', event => { if (event.pointerType === 'mouse') mark(); });  // a tap stays
      pane.addEventListener('keydown', event => {
        if (event.key === 'Escape') mark();
        const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
        if (!step) return;
        event.preventDefault();
        if (!items[at]?.classList.contains('on')) at = items.findIndex(item => item.classList.contains('on'));
        let next = at + step;
        while (items[next] && items[next].dataset.l === items[at]?.dataset.l) next += step;
        if (!items[next]) return;
        mark(items[next].dataset.l, pane);
        reveal(pane, [items[at = next]]);
      });
    }
  }

  if (!window.d3) return;

  // --- Hover: shows the record, and highlights every place of the same cell -------------------------------------
  const tip = document.getElementById('tip');
  const describe = index => {
    const cell = data.cells[index];
    tip.replaceChildren();
    make('b', cell.id, tip);
    make('div', `on ${data.devices[cell.device].name}`, tip).className = 'dim';
    make('div', Object.entries(cell.point).map(([axis, v]) => `${axis}=${v}`).join(' '), tip).className = 'dim';
    if (cell.status !== 'ok') make('div', `${cell.status}: ${cell.reason || ''}`, tip);
    const list = make('dl', undefined, tip);
    const line = (name, words) => { make('dt', name, list); make('dd', words, list); };
    if (cell.median !== undefined) line('median', quantity(cell.median, 's'));
    if (cell.interval) line('95 % interval', cell.interval.map(v => quantity(v, 's')).join(' to '));
    if (cell.n !== undefined) line('samples', cell.n);
    for (const [name, [v, unit]] of Object.entries(cell.metrics || {})) line(name, quantity(v, unit));
    for (const name of ['registers', 'spills']) if (cell[name] !== undefined) line(name, cell[name]);
    if (cell.samples && cell.samples.length > 7) strip(cell);
    for (const w of cell.warnings || []) make('div', data.warnings[w], tip).className = 'dim';
  };
  const strip = cell => {
    let at = 0;
    const values = cell.samples.map(step => (at += step) / data.parts * cell.median);
    const x = d3.scaleLinear(d3.extent(values), [2, 238]);
    d3.select(tip).append('svg').attr('width', 240).attr('height', 18).attr('class', 'strip').selectAll('line').data(values).join('line')
      .attr('x1', x).attr('x2', x).attr('y1', 2).attr('y2', 16);
    make('div', `each sample, ${quantity(values[0], 's')} to ${quantity(values[values.length - 1], 's')}`, tip).className = 'dim';
  };
  const place = (left, top) => {
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(left + 14, innerWidth - box.width - 4))}px`;
    tip.style.top = `${Math.max(4, top + 18 + box.height > innerHeight ? top - box.height - 12 : top + 18)}px`;
  };
  const hide = () => { tip.hidden = true; light([]); };
  const show = (index, left, top) => { describe(index); light([index]); place(left, top); };
  for (const element of all('.row[data-cell]')) {
    const index = Number(element.dataset.cell);
    element.addEventListener('pointerenter', event => show(index, event.clientX, event.clientY));
    element.addEventListener('pointerleave', hide);
    element.addEventListener('focusin', () => { const box = element.getBoundingClientRect(); show(index, box.left, box.bottom - 14); });
    element.addEventListener('focusout', hide);
  }
  body.addEventListener('pointerover', event => { const row = event.target.closest('tr'); if (row) light([row.dataset.cell]); });
  body.addEventListener('pointerleave', () => light([]));
  window.addEventListener('keydown', event => { if (event.key === 'Escape') hide(); });

  // --- Charts: the nearest point, and zoom along x ---------------------------------------------------------------------
  d3.selectAll('figure.chart').each(function () {
    const figure = this, plot = d3.select(figure).select('.plot'), inner = d3.select(figure).select('.zoomed');
    const low = Number(figure.dataset.low), high = Number(figure.dataset.high), unit = figure.dataset.unit;
    const dots = all('.dot[data-cell]', figure);
    const margin = 0.03;
    const away = (dot, event) => {
      const box = dot.getBoundingClientRect();
      return Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
    };
    plot.node().addEventListener('pointermove', event => {
      const distances = dots.map(dot => away(dot, event)), near = dots[distances.indexOf(d3.min(distances))];
      if (near) show(Number(near.dataset.cell), event.clientX, event.clientY);
    });
    plot.node().addEventListener('pointerleave', hide);
    if (!(high > low)) return;
    const ticks = plot.select('.ticks'), ticksAtFirst = ticks.node().cloneNode(true);
    const draw = transform => {
      const width = plot.node().getBoundingClientRect().width;
      inner.attr('transform', `translate(${transform.x / width * 1000},0) scale(${transform.k},1)`);
      const at = share => transform.k * share + transform.x / width;
      plot.select('.labels').selectAll('text').each(function () {
        const share = at(Number(this.dataset.share));
        this.setAttribute('x', `${100 * share}%`);
        this.toggleAttribute('hidden', share < 0 || share > 1);
      });
      if (transform.k === 1) {
        ticks.node().replaceChildren(...ticksAtFirst.cloneNode(true).children);
        return;
      }
      const scale = (figure.dataset.log === '1' ? d3.scaleLog().base(unit === 'byte' ? 2 : 10) : d3.scaleLinear()).domain([low, high]).range([margin, 1 - margin]);
      const seen = scale.copy().domain([-transform.x / width / transform.k, (1 - transform.x / width) / transform.k].map(scale.invert)).range([0, 1]);
      const marks = ticks.selectAll('g').data(seen.ticks(5).filter((_, i, list) => i % Math.ceil(list.length / 6) === 0)).join('g');
      marks.selectAll('*').remove();
      marks.append('line').attr('x1', v => `${100 * seen(v)}%`).attr('x2', v => `${100 * seen(v)}%`).attr('y1', 240).attr('y2', 245);
      marks.append('text').attr('x', v => `${100 * seen(v)}%`).attr('y', 257).text(v => quantity(v, unit));
    };
    // D3 5 (Debian 12) has the event in d3.event; later versions pass it. A wheel without Ctrl or Shift scrolls the page.
    const zoom = d3.zoom().scaleExtent([1, 50])
      .filter(event => { const e = event || d3.event; return e.type !== 'wheel' || e.ctrlKey || e.shiftKey; })
      .on('zoom', event => draw((event || d3.event).transform));
    const whole = () => plot.call(zoom.transform, d3.zoomIdentity);
    // Measured when the pointer enters: measuring a chart out of sight would lay it out.
    const fit = () => {
      const {width, height} = plot.node().getBoundingClientRect();
      zoom.extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]]);
    };
    for (const event of ['pointerenter', 'focusin']) figure.addEventListener(event, fit);
    plot.call(zoom).on('dblclick.zoom', whole);
    window.addEventListener('resize', () => { if (d3.zoomTransform(plot.node()).k !== 1) { fit(); whole(); } });
    const buttons = make('p', undefined, figure);
    buttons.className = 'zoom';
    for (const [words, act] of [['zoom in', () => plot.call(zoom.scaleBy, 2)], ['zoom out', () => plot.call(zoom.scaleBy, 0.5)], ['whole', whole]])
      make('button', words, buttons).addEventListener('click', () => { fit(); act(); });
  });
})();
