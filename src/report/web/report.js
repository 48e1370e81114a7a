/* Sorting, filtering, highlighting and charts of a report. Everything works on what the tables of the page hold; text
 * is only ever set as text, never as markup. */
'use strict';
(() => {
  const $ = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  /* --- tables ------------------------------------------------------------------------------------------- */

  const numberOf = (cell) => (cell && cell.dataset.v !== undefined ? Number(cell.dataset.v) : null);

  function sortBy(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map((row) => ({
      row, number: numberOf(row.cells[column]), text: row.cells[column].textContent }));
    const numeric = rows.some((r) => r.number !== null);
    const sign = descending ? -1 : 1;
    rows.sort((a, b) => {
      if (numeric) {
        if (a.number === null || b.number === null) /* the unknown comes last either way */
          return (a.number === null) - (b.number === null);
        return sign * (a.number - b.number);
      }
      return sign * a.text.localeCompare(b.text, 'en', { numeric: true });
    });
    body.append(...rows.map((r) => r.row));
    $('thead th', table).forEach((th, i) => {
      if (i === column) th.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
  }

  function makeSortable(table) {
    $('thead th', table).forEach((th, column) => {
      const button = make('button', { type: 'button', textContent: th.textContent });
      th.replaceChildren(button);
      button.addEventListener('click', () => {
        const was = th.getAttribute('aria-sort');
        /* numbers begin with the largest */
        const descending = was ? was === 'ascending' : th.classList.contains('n');
        sortBy(table, column, descending);
      });
    });
  }

  /* An input that hides the items that do not contain all of its words. */
  function makeFilter(before, items, textOf, what) {
    const count = make('span', { className: 'note' });
    const input = make('input', { type: 'search', placeholder: 'Filter', ariaLabel: `Filter ${what}` });
    let texts = null;
    const apply = () => {
      texts = texts || items.map((item) => textOf(item).toLowerCase());
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      items.forEach((item, i) => {
        item.hidden = !words.every((word) => texts[i].includes(word));
        shown += item.hidden ? 0 : 1;
      });
      count.textContent = words.length ? `${shown} of ${items.length}` : '';
    };
    input.addEventListener('input', apply);
    before.before(make('div', { className: 'filter' }, input, count));
    return (text) => { input.value = text; apply(); };
  }

  const tables = $('table.data');
  for (const table of tables) {
    makeSortable(table);
    if (table.tBodies[0].rows.length > 5)
      makeFilter(table.parentElement, Array.from(table.tBodies[0].rows), (row) => row.textContent, 'rows');
  }

  /* --- submissions -------------------------------------------------------------------------------------- */

  const submissions = $('.submission');
  let filterSubmissions = () => {};
  if (submissions.length)
    filterSubmissions = makeFilter(submissions[0], submissions, (s) => s.firstElementChild.textContent, 'submissions');

  const words = new Set(('alignas alignof asm auto bool break case catch char class const constexpr continue default delete ' +
    'do double else enum explicit extern false float for friend goto if inline int long namespace new nullptr operator ' +
    'private protected public register restrict return short signed sizeof static static_cast struct switch template ' +
    'this true try typedef typename union unsigned using virtual void volatile while __global__ __device__ __host__ ' +
    '__shared__ __constant__ __managed__ __restrict__ __launch_bounds__ __syncthreads size_t int8_t int16_t int32_t ' +
    'int64_t uint8_t uint16_t uint32_t uint64_t threadIdx blockIdx blockDim gridDim warpSize').split(' '));
  const token = /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|(?![\s\S])))|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*#[^\n]*)|(\b(?:0[xX][0-9a-fA-F']+|\d[\d'.]*(?:[eE][+-]?\d+)?)[fFuUlL]*)|([A-Za-z_]\w*)/gm;

  function highlight(code) {
    const text = code.textContent;
    if (text.length > 400000) return;
    const tokens = [];
    for (const match of text.matchAll(token)) {
      const name = match[1] ? 'com' : match[2] ? 'str' : match[3] ? 'num' : words.has(match[4]) ? 'kw' : '';
      if (name) tokens.push({ name, from: match.index, to: match.index + match[0].length });
    }
    /* Piece by piece, as lines that show strategies are elements: what goes on from one to the next is cut in two. */
    const pieces = [];
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) pieces.push(walker.currentNode);
    let start = 0, k = 0;
    for (const piece of pieces) {
      const end = start + piece.data.length, out = document.createDocumentFragment();
      let from = start;
      for (; k < tokens.length && tokens[k].from < end; k++) {
        const t = tokens[k], first = Math.max(t.from, start), last = Math.min(t.to, end);
        out.append(text.slice(from, first), make('span', { className: t.name, textContent: text.slice(first, last) }));
        from = last;
        if (t.to > end) break;
      }
      out.append(text.slice(from, end));
      piece.replaceWith(out);
      start = end;
    }
  }

  /* The lines of a table of trials. */
  function trialsOf(pre) {
    return pre.textContent.split('\n').slice(1).filter(Boolean).map((line) => {
      const f = line.trim().split(/\s+/);
      return { kind: f[0], group: Number(f[1]), instance: Number(f[3]), ms: Number(f[4]), reference: Number(f[6]),
        disturbed: f[10] !== '0', outcome: f[12] };
    });
  }

  function open(details) {
    details.open = true;
    details.scrollIntoView();
    details.firstElementChild.focus();
  }

  for (const details of submissions)
    details.addEventListener('toggle', () => {
      if (!details.open || details.dataset.ready) return;
      details.dataset.ready = 'yes';
      $('code', details).forEach(highlight);
      for (const pre of $('.trials pre', details)) {
        const trials = trialsOf(pre).filter((t) => t.ms > 0);
        if (!trials.length || !draw) continue;
        const plot = make('div', { className: 'plot' });
        pre.closest('.trials').before(plot);
        draw(plot, {
          width: 640, height: { step: 26 }, data: { values: trials },
          mark: { type: 'point', filled: true, size: 55, opacity: 0.75 },
          encoding: {
            x: { field: 'ms', type: 'quantitative', title: 'time of each trial (ms)', scale: { zero: false, nice: true } },
            y: { field: 'kind', type: 'nominal', title: null },
            shape: { field: 'disturbed', type: 'nominal', title: 'disturbed' },
            color: { field: 'group', type: 'nominal', title: 'group' },
            tooltip: [{ field: 'kind' }, { field: 'instance' }, { field: 'ms' }, { field: 'reference' }, { field: 'outcome' }],
          },
        });
      }
    });

  for (const table of $('table[data-table="matrix"]')) {
    const names = $('thead th', table).map((th) => th.dataset.name);
    table.addEventListener('click', (event) => {
      const cell = event.target.closest('td');
      if (!cell) return;
      const task = cell.parentElement.cells[0].textContent;
      const label = names[cell.cellIndex];
      const found = submissions.find((s) => s.dataset.task === task && (s.dataset.entrant === label ||
        `${s.dataset.entrant}/${s.dataset.target}` === label || `${s.dataset.entrant} [seed]` === label));
      if (!found) return;
      filterSubmissions('');
      open(found);
    });
    $('tbody td', table).forEach((td) => td.classList.add('link'));
  }

  if (location.hash) {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.matches('.submission')) open(target);
  }

  /* --- charts ------------------------------------------------------------------------------------------- */

  const sizes = ['small', 'medium', 'large'];

  function boards(id) { /* every row of every table of that id, as objects */
    return tables.filter((t) => t.dataset.table === id).map((table) => ({
      size: table.dataset.size, environment: table.dataset.environment,
      names: $('thead th', table).map((th) => th.dataset.name),
      rows: Array.from(table.tBodies[0].rows).map((row) => Array.from(row.cells)),
    }));
  }

  const matrix = []; /* one entry an entrant and task */
  for (const b of boards('matrix'))
    for (const row of b.rows)
      for (let c = 1; c < row.length; c++) {
        const failed = row[c].className.startsWith('hf') || row[c].className.startsWith('hn');
        matrix.push({ size: b.size, environment: b.environment, task: row[0].textContent, entrant: b.names[c],
          s: numberOf(row[c]), outcome: failed ? row[c].textContent : 'pass' });
      }
  const several = (field) => new Set(matrix.map((m) => m[field])).size > 1;
  const presentSizes = sizes.filter((s) => matrix.some((m) => m.size === s && m.s > 0)); /* there may be no baselines */

  function facets(spec, values) {
    const facet = {};
    if (several('size')) facet.column = { field: 'size', type: 'ordinal', sort: sizes, title: null };
    if (several('environment')) facet.row = { field: 'environment', type: 'nominal', title: 'environment' };
    return Object.keys(facet).length ? { data: { values }, facet, spec } : { data: { values }, ...spec };
  }

  const colour = { field: 'entrant', type: 'nominal', scale: { scheme: 'tableau10' } };
  const shape = { field: 'entrant', type: 'nominal', legend: null };
  const shapeOfPoints = { field: 'entrant', type: 'nominal' }; /* where there are points alone, shapes and colours share a legend */

  const charts = {
    'coverage-speed'() {
      const values = [];
      for (const b of boards('leaderboard')) {
        const at = (name) => b.names.indexOf(name);
        for (const row of b.rows) {
          const gm = row[at('GM')];
          if (numberOf(gm) === null || numberOf(row[at('coverage')]) === null) continue;
          values.push({ size: b.size, environment: b.environment, entrant: row[at('entrant')].textContent,
            coverage: numberOf(row[at('coverage')]), passed: row[at('coverage')].textContent, gm: numberOf(gm),
            low: Number(gm.dataset.lo || gm.dataset.v), high: Number(gm.dataset.hi || gm.dataset.v) });
        }
      }
      const x = { field: 'coverage', type: 'quantitative', title: 'coverage', axis: { format: '.0%' }, scale: { domain: [0, 1] } };
      const y = { type: 'quantitative', title: 'GM of the speedup', scale: { type: 'log' } };
      return values.length && facets({ width: 300, height: 300, layer: [
        { mark: 'rule', encoding: { x, y: { ...y, field: 'low' }, y2: { field: 'high' }, color: colour } },
        { mark: { type: 'point', filled: true, size: 90 }, encoding: { x, y: { ...y, field: 'gm' }, color: colour, shape,
          tooltip: [{ field: 'entrant' }, { field: 'passed' }, { field: 'gm', format: '.3g' }] } },
      ] }, values);
    },
    scale(task) {
      if (presentSizes.length < 2) return null;
      let values = matrix.filter((m) => m.s > 0 && m.task === task);
      if (!task) { /* over the tasks that an entrant passes at all sizes: otherwise sizes differ by their tasks */
        const groups = new Map();
        for (const m of matrix) {
          const key = JSON.stringify([m.environment, m.entrant, m.task]);
          if (m.s > 0) groups.set(key, (groups.get(key) || []).concat(m));
        }
        const sums = new Map();
        for (const all of groups.values())
          if (all.length === presentSizes.length)
            for (const m of all) {
              const key = JSON.stringify([m.environment, m.entrant, m.size]);
              const sum = sums.get(key) || { environment: m.environment, entrant: m.entrant, size: m.size, log: 0, tasks: 0 };
              sum.log += Math.log(m.s);
              sum.tasks++;
              sums.set(key, sum);
            }
        values = Array.from(sums.values()).map((v) => ({ ...v, s: Math.exp(v.log / v.tasks) }));
      }
      const spec = { width: 460, height: 320, mark: { type: 'line', point: true }, encoding: {
        x: { field: 'size', type: 'ordinal', sort: sizes, title: null, axis: { labelAngle: 0 } },
        y: { field: 's', type: 'quantitative', scale: { type: 'log' },
          title: task ? `speedup on ${task}` : 'GM of the speedup, tasks passed at all sizes' },
        color: colour, shape,
        tooltip: [{ field: 'entrant' }, { field: 'size' }, { field: 's', format: '.3g' }].concat(task ? [] : { field: 'tasks' }) } };
      if (!several('environment')) return { data: { values }, ...spec };
      return { data: { values }, facet: { column: { field: 'environment', type: 'nominal' } }, spec };
    },
    tuned() {
      const of = new Map();
      for (const m of matrix)
        if (m.entrant === 'tuned' && m.s > 0) of.set(JSON.stringify([m.environment, m.size, m.task]), m.s);
      const values = matrix.filter((m) => m.entrant !== 'tuned' && m.s > 0)
        .map((m) => ({ ...m, ratio: m.s / of.get(JSON.stringify([m.environment, m.size, m.task])) }))
        .filter((m) => m.ratio > 0);
      return values.length && facets({ width: 260, height: { step: 13 }, layer: [
        { mark: { type: 'point', filled: true, opacity: 0.8 }, encoding: {
          x: { field: 'ratio', type: 'quantitative', title: 'speed over that of tuned', scale: { type: 'log' } },
          y: { field: 'task', type: 'nominal', title: null }, color: colour, shape: shapeOfPoints,
          tooltip: [{ field: 'task' }, { field: 'entrant' }, { field: 'ratio', format: '.3g' }] } },
        { mark: { type: 'rule', strokeDash: [3, 3] }, encoding: { x: { datum: 1 } } },
      ] }, values);
    },
    floors() {
      const values = [];
      const entrants = new Set(matrix.map((m) => m.entrant));
      for (const b of boards('floors'))
        for (const row of b.rows)
          b.names.forEach((entrant, c) => {
            if (c > 5 && entrants.has(entrant) && numberOf(row[c]) > 0)
              values.push({ size: b.size, environment: b.environment, task: row[0].textContent, entrant, share: numberOf(row[c]) });
          });
      return values.length && facets({ width: 260, height: { step: 13 }, layer: [
        { mark: { type: 'point', filled: true, opacity: 0.8 }, encoding: {
          x: { field: 'share', type: 'quantitative', title: 'share of the time that the floor is', axis: { format: '~%' }, scale: { type: 'log' } },
          y: { field: 'task', type: 'nominal', title: null }, color: colour, shape: shapeOfPoints,
          tooltip: [{ field: 'task' }, { field: 'entrant' }, { field: 'share', format: '.2%' }] } },
        { mark: { type: 'rule', strokeDash: [3, 3] }, encoding: { x: { datum: 1 } } },
      ] }, values);
    },
    failures() {
      const measured = matrix.filter((m) => m.outcome !== 'not_measured');
      const outcomes = ['pass', ...Array.from(new Set(measured.map((m) => m.outcome))).filter((o) => o !== 'pass').sort()];
      const values = measured.map((m) => ({ ...m, rank: outcomes.indexOf(m.outcome) }));
      const range = ['#9ecae9', '#e45756', '#f58518', '#72b7b2', '#b279a2', '#eeca3b', '#9d755d', '#54a24b', '#ff9da6', '#8c8c8c'];
      return outcomes.length > 1 && facets({ width: 300, mark: 'bar', encoding: {
        x: { aggregate: 'count', title: 'tasks' }, y: { field: 'entrant', type: 'nominal', title: null },
        color: { field: 'outcome', type: 'nominal', scale: { domain: outcomes, range } }, order: { field: 'rank' },
        tooltip: [{ field: 'entrant' }, { field: 'outcome' }, { aggregate: 'count', title: 'tasks' }] } }, values);
    },
  };

  /* What a profiled call spends its time on, in the order in which it goes through it. */
  const phaseWords = ['alloc', 'in', 'launch', 'kernel', 'library', 'out', 'wait', 'free', 'host', 'system', 'idle'];
  const phaseColours = ['#e08a2e', '#4a93cb', '#b5bcc4', '#2f9e63', '#9a6fc9', '#7cb8e4', '#8c959f', '#f0b878', '#63c293',
    '#c4a6e6', '#d8dde2'];
  const phases = []; /* one entry a call and phase */
  let profiled = 0; /* calls so far: several samples of a program are as many */
  for (const b of boards('phases'))
    for (const row of b.rows) {
      profiled++;
      const at = (name) => row[b.names.indexOf(name)];
      for (const phase of phaseWords)
        if (b.names.includes(phase) && numberOf(at(phase)) > 0)
          phases.push({ call: profiled, task: at('task').textContent, size: at('size').textContent, environment: at('environment').textContent,
            entrant: `${at('entrant').textContent}${at('target').textContent === 'cpu' ? ' (cpu)' : ''}`,
            phase, order: phaseWords.indexOf(phase), ms: numberOf(at(phase)), share: numberOf(at(phase)) / numberOf(at('call')) });
    }

  charts.phases = (task) => {
    if (!phases.length) return null;
    let values = phases.filter((p) => p.task === task);
    if (!task) { /* the mean over the calls of each entrant */
      const calls = new Map(), sums = new Map();
      for (const p of phases) {
        const who = JSON.stringify([p.environment, p.size, p.entrant]);
        calls.set(who, (calls.get(who) || new Set()).add(p.call));
        const key = JSON.stringify([who, p.phase]);
        const sum = sums.get(key) || { ...p, who, share: 0 };
        sum.share += p.share;
        sums.set(key, sum);
      }
      values = Array.from(sums.values()).map((v) => ({ ...v, share: v.share / calls.get(v.who).size, calls: calls.get(v.who).size }));
    }
    const facet = {};
    const many = (field) => new Set(phases.map((p) => p[field])).size > 1;
    if (many('size')) facet.column = { field: 'size', type: 'ordinal', sort: sizes, title: null };
    if (many('environment')) facet.row = { field: 'environment', type: 'nominal', title: 'environment' };
    const used = phaseWords.filter((w) => phases.some((p) => p.phase === w));
    const spec = { width: 360, height: { step: 22 }, mark: 'bar', encoding: {
      x: task ? { field: 'ms', type: 'quantitative', title: `a profiled call of ${task} (ms)` }
        : { field: 'share', type: 'quantitative', title: 'share of a profiled call, mean over calls', axis: { format: '.0%' }, scale: { domain: [0, 1] } },
      y: { field: 'entrant', type: 'nominal', title: null }, order: { field: 'order' },
      color: { field: 'phase', type: 'nominal', sort: used,
        scale: { domain: used, range: used.map((w) => phaseColours[phaseWords.indexOf(w)]) } },
      tooltip: [{ field: 'entrant' }, { field: 'phase' }, task ? { field: 'ms', format: '.4g' } : { field: 'share', format: '.1%' }]
        .concat(task ? [] : { field: 'calls' }) } };
    return Object.keys(facet).length ? { data: { values }, facet, spec, ...(task ? { resolve: { scale: { x: 'independent' } } } : {}) }
      : { data: { values }, ...spec };
  };
  /* Strategies against entrants, against tasks, or against the tasks of one entrant. */
  const view = { entrants: 'entrants', tasks: 'tasks' };
  const shareOf = (cell) => ({ share: numberOf(cell), programs: cell.textContent });
  const catalogue = new Map(); /* id to name */
  for (const b of boards('strategies'))
    for (const row of b.rows) catalogue.set(row[0].textContent, row[1].textContent);
  const searched = submissions.filter((s) => s.dataset.strategies !== undefined);

  charts.strategies = (what) => {
    const values = [];
    if (!what || what === view.entrants)
      for (const b of boards('strategies'))
        for (const row of b.rows)
          for (let c = 3; c < row.length; c++)
            if (numberOf(row[c]) !== null) values.push({ strategy: row[0].textContent, column: b.names[c], ...shareOf(row[c]) });
    if (what === view.tasks)
      for (const b of boards('strategies_tasks'))
        for (const row of b.rows)
          for (let c = 1; c < row.length; c++)
            if (numberOf(row[c]) !== null) values.push({ strategy: b.names[c], column: row[0].textContent, ...shareOf(row[c]) });
    if (what && what.startsWith('= ')) { /* one entrant: several samples of a task share its column */
      const tasks = new Map();
      for (const s of searched)
        if (s.dataset.entrant === what.slice(2)) {
          const task = tasks.get(s.dataset.task) || { programs: 0, with: new Map(), undecided: new Map() };
          task.programs++;
          for (const field of ['strategies', 'undecided'])
            for (const id of s.dataset[field].split(' ').filter(Boolean)) {
              const counts = field === 'strategies' ? task.with : task.undecided;
              counts.set(id, (counts.get(id) || 0) + 1);
            }
          tasks.set(s.dataset.task, task);
        }
      for (const [column, task] of tasks)
        for (const strategy of catalogue.keys()) {
          const n = task.with.get(strategy) || 0, of = task.programs - (task.undecided.get(strategy) || 0);
          if (of > 0) values.push({ strategy, column, share: n / of, programs: `${n}/${of}` });
        }
    }
    const label = (id) => `${id} ${catalogue.get(id) || ''}`;
    return values.length && { data: { values: values.map((v) => ({ ...v, strategy: label(v.strategy) })) },
      width: { step: !what || what === view.entrants ? 26 : 15 }, height: { step: 13 }, mark: { type: 'rect' }, encoding: {
        x: { field: 'column', type: 'nominal', title: null, axis: { labelAngle: -60, labelLimit: 160 } },
        y: { field: 'strategy', type: 'nominal', title: null, sort: Array.from(catalogue.keys()).map(label), axis: { labelLimit: 300 } },
        color: { field: 'share', type: 'quantitative', title: 'programs that show it', legend: { format: '.0%' },
          scale: { domain: [0, 1], range: dark.matches ? ['#16222e', '#2a8ad2'] : ['#f1f5f9', '#08519c'] } },
        tooltip: [{ field: 'strategy' }, { field: 'column' }, { field: 'programs' }] } };
  };

  const liftBoards = boards('lift');
  const liftTables = tables.filter((t) => t.dataset.table === 'lift');
  charts.lift = (number) => {
    const b = liftBoards[Number(number || 0)];
    if (!b) return null;
    const note = liftTables[Number(number || 0)].closest('section').querySelector('p.note');
    const values = [];
    for (const row of b.rows) {
      const at = (name) => row[b.names.indexOf(name)];
      const lift = at('lift'), said = at('says').textContent;
      values.push({ strategy: `${at('strategy').textContent} ${at('name').textContent}`, lift: numberOf(lift), said,
        known: said.startsWith('too few') || said.startsWith('nothing') ? 'too few pairs' : said,
        shown: lift.textContent, pairs: numberOf(at('pairs')),
        low: lift.dataset.lo === undefined ? null : Number(lift.dataset.lo), high: lift.dataset.hi === undefined ? null : Number(lift.dataset.hi) });
    }
    const told = ['goes with speed', 'unclear', 'goes with slowness', 'too few pairs'];
    const y = { field: 'strategy', type: 'nominal', title: null, sort: values.map((v) => v.strategy), axis: { labelLimit: 300 } };
    const x = { type: 'quantitative', scale: { type: 'log' }, title: 'speed with it over speed without, within tasks' };
    const color = { field: 'known', type: 'nominal', title: null, legend: { orient: 'top' },
      scale: { domain: told, range: ['#2f9e63', '#4a93cb', '#d1495b', '#a3abb3'] } };
    const few = { condition: { test: "datum.known === 'too few pairs'", value: 0.55 }, value: 1 };
    return { data: { values }, width: 620, height: { step: 15 },
      title: { text: [b.size, b.environment].filter(Boolean).join(', environment '), subtitle: note ? note.textContent : '', anchor: 'start' },
      layer: [
        { mark: { type: 'rule', strokeDash: [3, 3] }, encoding: { x: { datum: 1, type: 'quantitative', scale: { type: 'log' } } } },
        { transform: [{ filter: 'datum.low !== null' }], mark: { type: 'rule', strokeWidth: 2 },
          encoding: { y, x: { ...x, field: 'low' }, x2: { field: 'high' }, color, opacity: few } },
        { mark: { type: 'point', filled: true, size: 60 }, encoding: { y, x: { ...x, field: 'lift' }, color, opacity: few,
          tooltip: [{ field: 'strategy' }, { field: 'shown', title: 'lift' }, { field: 'pairs' }, { field: 'said', title: 'says' }] } },
        { transform: [{ filter: "datum.known === 'too few pairs'" }], mark: { type: 'text', align: 'left', fontSize: 9 },
          encoding: { y, x: { value: 628 }, text: { field: 'said' }, color: { value: '#8c959f' } } },
      ] };
  };

  const choices = { /* charts that show one thing of several */
    scale: ['Task', () => [['', 'all tasks']].concat(Array.from(new Set(matrix.map((m) => m.task))).sort().map((t) => [t, t]))],
    strategies: ['Columns', () => [[view.entrants, 'by entrant'], [view.tasks, 'by task']].concat(
      Array.from(new Set(searched.map((s) => s.dataset.entrant))).sort().map((e) => [`= ${e}`, `${e}, by task`]))],
    lift: ['Size and machine', () => liftBoards.map((b, i) => [String(i), [b.size, liftBoards.some((o) => o.environment !== b.environment) ? b.environment : ''].filter(Boolean).join(', ')])],
    phases: ['Task', () => [['', 'all tasks']].concat(Array.from(new Set(phases.map((p) => p.task))).sort().map((t) => [t, t]))],
  };

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const drawn = new Set(); /* to draw again when the colours change */

  /* what: a chart, or a function that makes it, called again when the colours change */
  function embed(plot, what) {
    const spec = typeof what === 'function' ? what() : what;
    const style = getComputedStyle(document.documentElement);
    const fg = style.getPropertyValue('--fg').trim();
    const line = style.getPropertyValue('--line').trim();
    const text = { labelColor: fg, titleColor: fg };
    return vegaEmbed(plot, { $schema: 'https://vega.github.io/schema/vega-lite/v5.json', ...spec, background: null,
      config: { axis: { ...text, gridColor: line, domainColor: line, tickColor: line }, legend: text, header: text,
        title: { color: fg, subtitleColor: fg }, view: { stroke: line }, rule: { color: fg }, font: 'system-ui, DejaVu Sans, sans-serif' } },
    { renderer: 'svg', ast: true, expr: vega.expressionInterpreter,
      actions: { export: true, source: false, compiled: false, editor: false } })
      .then(() => { plot.dataset.drawn = 'yes'; }, (error) => { plot.textContent = `This chart cannot be drawn: ${error.message}`; });
  }

  const draw = typeof vegaEmbed === 'undefined' ? null : (plot, spec) => { drawn.add({ plot, spec }); return embed(plot, spec); };
  dark.addEventListener('change', () => drawn.forEach(({ plot, spec }) => embed(plot, spec)));

  if (draw) {
    const pending = new Map();
    const show = (figure) => {
      const name = pending.get(figure);
      if (!name) return;
      pending.delete(figure);
      draw(figure.querySelector('.plot'), () => charts[name]());
    };
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) { watcher.unobserve(entry.target); show(entry.target); }
    }, { rootMargin: '400px' });
    for (const figure of $('.chart')) {
      const name = figure.dataset.chart;
      if (!charts[name] || !charts[name]()) continue; /* nothing to show */
      figure.hidden = false;
      pending.set(figure, name);
      watcher.observe(figure);
      if (choices[name]) {
        const [what, list] = choices[name];
        const select = make('select', { ariaLabel: what }, ...list().map(([value, textContent]) => make('option', { value, textContent })));
        figure.querySelector('figcaption').append(' ', select);
        select.addEventListener('change', () => {
          const plot = figure.querySelector('.plot');
          pending.delete(figure);
          drawn.forEach((d) => { if (d.plot === plot) drawn.delete(d); });
          draw(plot, () => charts[name](select.value || undefined));
        });
      }
    }
    addEventListener('beforeprint', () => Array.from(pending.keys()).forEach(show));
  }
  document.documentElement.dataset.ready = 'yes';
})();
