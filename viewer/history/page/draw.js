// Draws what the document in #data says: no other data, no request to anywhere.
const report = JSON.parse(document.getElementById('data').textContent);
const tip = document.getElementById('tip');

const frameText = frame => frame.filename && frame.line ? `${frame.name} (${frame.filename}:${frame.line})` : frame.name;
const stackText = stack => stack.frames.length ? stack.frames.map(frameText).join('\n') : '(no stack)';
const hue = place => (place * 137.5 + 210) % 360;
const colour = place => `hsl(${hue(place)} 48% 58%)`;

// Whatever has data-tip tells it under the pointer.
document.addEventListener('mousemove', event => {
  const about = event.target.closest('[data-tip]');
  tip.style.visibility = about ? 'visible' : 'hidden';
  if (!about) return;
  tip.textContent = about.dataset.tip;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + 'px';
});

const table = (titles, rows) => `<table><tr>${titles.map(t => `<th>${escape(t)}</th>`).join('')}</tr>` +
    rows.map(row => `<tr>${row.map(cell => `<td>${escape(cell)}</td>`).join('')}</tr>`).join('') + '</table>';
const heldRow = (name, held, all) => [name, size(held.bytes), share(held.bytes, all), grouped(held.blocks)];
const section = (title, body, note) =>
    `<section><h3>${title}</h3>${note ? `<p>${note}</p>` : ''}<div>${body}</div></section>`;

function failureText(oom) {
  const limit = oom.limit_bytes === null ? '' : `, refused by the limit of ${size(oom.limit_bytes)}`;
  return `out of memory${oom.times === 1 ? '' : ` ${grouped(oom.times)} times`}: ${size(oom.requested_bytes)} wanted, ${
      size(oom.device_free_bytes)} free on the device${limit}\n${stackText(oom)}`;
}
function failures(device) {
  if (!device.out_of_memory.length) return '';
  const rows = device.out_of_memory.slice(0, 50).map(oom => `<tr><td>${escape(clock(oom.time))}</td><td>${grouped(oom.times)}</td><td>${
      size(oom.requested_bytes)}</td><td>${size(oom.device_free_bytes)}</td><td>${oom.limit_bytes === null ? '-' : size(oom.limit_bytes)
      }</td><td class="stack">${escape(stackText(oom)).replace(/\n/g, '<br>')}</td></tr>`).join('');
  return section('Out of memory', '<table><tr><th>FIRST</th><th>TIMES</th><th>WANTED</th><th>FREE ON DEVICE</th><th>BY LIMIT</th>' +
      `<th class="stack">BY</th></tr>${rows}</table>`);
}
function timeline(device) {
  const time = device.timeline;
  if (!time) return section('Over time', '<p>No events were recorded.</p>');
  const width = 1100, height = 190, bottom = 168, parts = time.parts, step = width / parts.length;
  const most = Math.max(1, ...parts.map(part => part.reserved_bytes));
  const y = bytes => bottom - bytes / most * (bottom - 14);
  const outline = key => parts.map((part, i) => `L${(i * step).toFixed(1)} ${y(part[key]).toFixed(1)}H${((i + 1) * step).toFixed(1)}`)
      .join('');
  const area = key => `M0 ${bottom}${outline(key)}V${bottom}Z`;
  const marks = device.out_of_memory.filter(oom => oom.time >= parts[0].time).map(oom => {
    const x = ((oom.time - parts[0].time) / Math.max(time.end - parts[0].time, 1e-9) * width).toFixed(1);
    return `<path d="M${x} 10V${bottom}" stroke="var(--mark)" stroke-dasharray="3 3" data-tip="${escape(failureText(oom))}"/>`;
  }).join('');
  const columns = parts.map((part, i) => `<rect x="${(i * step).toFixed(1)}" y="0" width="${step.toFixed(2)}" height="${bottom}" ` +
      `fill="transparent" data-tip="${escape(`${clock(part.time)}\nheld ${size(part.held_bytes)}\nreserved ${
          size(part.reserved_bytes)}`)}"/>`).join('');
  const svg = `<svg viewBox="0 0 ${width} ${height}"><path d="${area('reserved_bytes')}" fill="var(--reserved)"/>` +
      `<path d="${area('held_bytes')}" fill="var(--held)"/><text class="dim" x="2" y="10">${size(most)}</text>` +
      `<text class="dim" x="0" y="${height - 6}">${escape(clock(parts[0].time))}</text>` +
      `<text class="dim" x="${width}" y="${height - 6}" text-anchor="end">${escape(clock(time.end))}</text>${columns}${marks}</svg>`;
  return section('Over time', svg + '<p class="key"><i style="background:var(--held)"></i>held' +
      '<i style="background:var(--reserved)"></i>reserved</p>',
      `highest ${size(time.highest.held_bytes)} at ${escape(clock(time.highest.time))}; ${grouped(device.events)} events`);
}

// Outermost calls at the top; children of a call lie below it, as wide as what they hold.
function flameTree(device) {
  const root = {name: 'all', bytes: 0, blocks: 0, children: new Map()};
  device.by_stack.forEach(stack => {
    let node = root;
    const frames = stack.frames.length ? [...stack.frames].reverse() : [{name: '(no stack)'}];
    root.bytes += stack.bytes; root.blocks += stack.blocks;
    for (const frame of frames) {
      const text = frameText(frame);
      if (!node.children.has(text)) node.children.set(text, {name: text, bytes: 0, blocks: 0, children: new Map()});
      node = node.children.get(text);
      node.bytes += stack.bytes; node.blocks += stack.blocks;
    }
  });
  return root;
}
function drawFlame(place, root, from, above) {
  const width = 1100, row = 19;
  let depth = 0, bars = '';
  const nodes = [];
  const put = (node, x, w, level) => {
    if (w < 0.4) return;
    depth = Math.max(depth, level + 1);
    const fits = Math.floor((w - 6) / 6.2), label = fits < 3 ? '' : node.name.length > fits ? node.name.slice(0, fits - 1) + '…' : node.name;
    bars += `<rect x="${x.toFixed(2)}" y="${level * row}" width="${w.toFixed(2)}" height="${row - 1}" data-node="${nodes.length}" ` +
        `fill="hsl(${20 + node.name.length * 7 % 34} 70% ${level < above.length ? 78 : 60}%)" data-tip="${
            escape(`${node.name}\n${size(node.bytes)}, ${share(node.bytes, root.bytes)}, ${blocks(node.blocks)}`)}"/>` +
        `<text x="${(x + 4).toFixed(2)}" y="${level * row + 13}" style="fill:#222">${escape(label)}</text>`;
    nodes.push({node, level});
    let at = x;
    for (const child of node.children.values()) {
      const part = node.bytes === 0 ? 0 : w * child.bytes / node.bytes;
      put(child, at, part, level + 1);
      at += part;
    }
  };
  above.forEach((node, level) => {
    put({...node, children: new Map()}, 0, width, level);
    nodes[nodes.length - 1].node = node;
  });
  put(from, 0, width, above.length);
  place.innerHTML = `<svg class="flame" viewBox="0 0 ${width} ${depth * row}">${bars}</svg>`;
  place.onclick = event => {
    const found = event.target.dataset && nodes[event.target.dataset.node];
    if (!found) return;
    const path = pathTo(root, found.node) || [root];
    drawFlame(place, root, found.node, path.slice(0, -1));
  };
}
function pathTo(node, wanted) {
  if (node === wanted) return [node];
  for (const child of node.children.values()) {
    const path = pathTo(child, wanted);
    if (path) return [node, ...path];
  }
  return null;
}

// One after the other by address, in lines of the same number of bytes; one that doesn't fit into a line begins a new one,
// and one that is longer goes on in the next.
function map(device) {
  const width = 1100, row = 15, total = device.map.reduce((sum, segment) => sum + segment[1], 0);
  const line = Math.max(1, total / Math.min(40, Math.max(4, device.map.length))), gap = line * 0.004;
  let cursor = 0, bars = '';
  for (const [address, bytes, pool, parts] of device.map) {
    if (cursor % line + bytes > line && cursor % line > 0) cursor = Math.ceil(cursor / line) * line;
    let at = 0;
    for (const [length, state, place] of parts) {
      const about = place === null ? '' : '\n' + stackText(device.by_stack[place]);
      const fill = state === 'active_allocated' ? colour(place) : state === 'active_pending_free' ? 'var(--pending)' : 'var(--free)';
      const words = `0x${(BigInt(address) + BigInt(at)).toString(16)}: ${size(length)} ${
          {active_allocated: 'held', active_pending_free: 'freed, pending', inactive: 'free'}[state] || 'unknown'} (${pool})${about}`;
      for (let from = cursor + at, end = from + length; from < end;) {
        const y = Math.floor(from / line + 1e-9), to = Math.min(end, (y + 1) * line);
        bars += `<rect x="${((from - y * line) / line * width).toFixed(2)}" y="${y * row}" width="${
            Math.max((to - from) / line * width, 0.2).toFixed(2)}" height="${row - 3}" style="fill:${fill}" data-tip="${escape(words)}"/>`;
        from = to;
      }
      at += length;
    }
    cursor += bytes + gap;
  }
  return `<svg class="map" viewBox="0 0 ${width} ${Math.max(1, Math.ceil(cursor / line)) * row}">${bars}</svg>` +
      '<p class="key"><i style="background:hsl(210 48% 58%)"></i>held, a colour for each stack' +
      '<i style="background:var(--pending)"></i>freed, pending<i style="background:var(--free)"></i>free</p>';
}

function stacks(device) {
  const rows = device.by_stack.slice(0, 50).map((stack, place) => `<tr><td>${size(stack.bytes)}</td><td>${
      share(stack.bytes, device.held.bytes)}</td><td>${grouped(stack.blocks)}</td><td>${
      stack.oldest === null || report.time === null ? '-' : length(Math.max(0, report.time - stack.oldest))}</td><td class="stack">${
      escape(stackText(stack)).replace(/\n/g, '<br>')}</td></tr>`).join('');
  const rest = device.by_stack.length - 50;
  return `<table><tr><th>HELD</th><th>SHARE</th><th>BLOCKS</th><th>OLDEST</th><th class="stack">STACK</th></tr>${rows}</table>` +
      (rest > 0 ? `<p>and ${grouped(rest)} smaller</p>` : '');
}

function ages(device) {
  return device.by_age.map(age => heldRow(age.from_s === null ? 'not known' : age.to_s === null ? 'over ' + length(age.from_s)
      : age.from_s === 0 ? 'under ' + length(age.to_s) : length(age.from_s) + ' to ' + length(age.to_s), age, device.held.bytes));
}

function draw(device, index) {
  const free = device.pools.reduce((sum, pool) => sum + pool.free_bytes, 0);
  const figure = (name, value, more) => `<div><span>${name}</span><b>${value}</b><span>${more}</span></div>`;
  return `<h2>${escape(device.device)} <span class="note">${escape(device.name || '')}</span></h2><div class="figures">` +
      figure(report.has_ended ? 'held at its end' : 'held', size(device.held.bytes), blocks(device.held.blocks)) +
      figure('requested', size(device.held.requested_bytes), 'by the program') +
      figure('pending', size(device.pending_bytes), 'freed, not yet reusable') +
      figure('free', size(free), 'in segments') +
      figure('reserved', size(device.reserved_bytes), grouped(device.segments) + ' segments') + '</div>' +
      timeline(device) + failures(device) +
      section('Held, by call', `<div id="flame${index}"></div>`, 'as wide as what is held; a click zooms, one on a bar above goes back') +
      section('Held, by stack', stacks(device)) +
      section('Held, by size', table(['BLOCKS UP TO', 'BYTES', 'SHARE', 'BLOCKS'],
                                     device.by_size.map(part => heldRow(size(part.up_to_bytes), part, device.held.bytes)))) +
      section('Held, by age', table(['AGE', 'BYTES', 'SHARE', 'BLOCKS'], ages(device))) +
      section('Fragmentation', table(
          ['POOL', 'RESERVED', 'HELD', 'FREE', 'LARGEST FREE', 'FREE IN SPLIT SEGMENTS', 'IDLE SEGMENTS'],
          device.pools.map(pool => [pool.pool, size(pool.reserved_bytes), size(pool.held_bytes), size(pool.free_bytes),
                                    size(pool.largest_free_bytes), size(pool.split_free_bytes),
                                    `${pool.idle_segments} of ${pool.segments}`]))) +
      section('Segments', map(device), 'by address, to one scale');
}

document.title = 'Tidemark: ' + clean(report.title);
document.getElementById('page').innerHTML = `<h1>${escape(report.title)}</h1><p>` + escape([
  report.pid === null ? null : 'pid ' + report.pid, report.id === null ? null : 'id ' + report.id,
  report.time === null ? null : clock(report.time),
  report.recorded === null ? 'not recorded' : `recorded: ${report.recorded}, stacks ${report.stacks}` +
      (report.since === null || report.time === null ? '' : `, for ${length(report.time - report.since)}`),
].filter(part => part !== null).join(' · ')) + '</p>' + report.devices.map(draw).join('');
report.devices.forEach((device, index) => {
  const root = flameTree(device);
  drawFlame(document.getElementById('flame' + index), root, root, []);
});
