// Asks for live.json every two seconds and draws it. What is not known is "-", never 0.
const kEvery = 2000;

// A number of bytes, with the exact one under the pointer and for scripts.
const bytes = value => value === null || value === undefined ? '<td>-</td>'
    : `<td data-bytes="${value}" title="${grouped(value)} B">${size(value)}</td>`;
const cell = (value, kind) => `<td${kind ? ` class="${kind}"` : ''}>${value === null || value === undefined ? '-' : escape(value)}</td>`;
const titles = (...names) => '<tr>' + names.map(name => `<th${name === 'PROGRAM' ? ' class="text"' : ''}>${name}</th>`).join('') + '</tr>';
const program = row => (row.label ? row.label + ': ' : '') + (row.command || '?');

function bar(device) {
  if (!device.capacity_bytes) return '';
  const part = (value, colour) => `<i style="width:${Math.min(100, 100 * value / device.capacity_bytes).toFixed(2)}%;background:var(--${colour})"></i>`;
  return `<div class="bar">${part(device.held_bytes, 'held')}${
      device.not_ours_bytes === null ? '' : part(device.not_ours_bytes, 'pending')}</div>`;
}

// Held as an area; what the driver says is used as a line, with gaps where nobody asked it.
function timeline(device) {
  const time = device.timeline, width = 500, height = 100, bottom = 80;
  if (time.time.length < 2) return '';
  const from = time.time[0], span = Math.max(1, time.time[time.time.length - 1] - from);
  const most = Math.max(1, ...time.held_bytes, ...time.used_bytes.map(value => value || 0));
  const x = i => ((time.time[i] - from) / span * width).toFixed(1), y = value => (bottom - value / most * (bottom - 14)).toFixed(1);
  const area = time.held_bytes.map((value, i) => `L${x(i)} ${y(value)}`).join('');
  let line = '', pen = 'M';
  time.used_bytes.forEach((value, i) => {
    if (value !== null) line += `${pen}${x(i)} ${y(value)}`;
    pen = value === null ? 'M' : 'L';
  });
  return `<svg viewBox="0 0 ${width} ${height}"><path d="M0 ${bottom}${area}L${width} ${bottom}Z" fill="var(--held)"/>` +
      `<path d="${line}" fill="none" stroke="var(--pending)" stroke-width="1.5"/><text class="dim" x="2" y="10">${size(most)}</text>` +
      `<text class="dim" x="0" y="${height - 6}">${escape(length(span))} ago</text>` +
      `<text class="dim" x="${width}" y="${height - 6}" text-anchor="end">now</text></svg>`;
}

function deviceCard(device) {
  const known = (name, value) => value === null ? '' : `<span>${name} <b data-bytes="${value}">${size(value)}</b></span>`;
  return `<section><h3>${escape(device.device || '')} ${escape(device.name || device.uuid)} <span class="note">${
      escape(device.uuid)}</span></h3><div data-uuid="${escape(device.uuid)}">${bar(device)}${timeline(device)}` +
      `<div class="figures">${known('held', device.held_bytes)}${known('cached', device.cached_bytes)}${
          known('not ours', device.not_ours_bytes)}${known('of', device.capacity_bytes)}<span>${
          device.processes} ${device.processes === 1 ? 'process' : 'processes'}</span></div></div></section>`;
}

function groups(all) {
  const rank = one => one === null ? '<td>-</td>' : `<td title="${grouped(one.peak_bytes)} B">${size(one.peak_bytes)} (rank ${one.rank})</td>`;
  return titles('PROGRAM', 'RUNNING', 'ENDED', 'KILLED', 'ALLOCATED', 'HELD', 'RANKS', 'HIGHEST PEAK', 'LOWEST PEAK', 'SPREAD', 'LAST OOM') +
      all.map(one => `<tr${one.processes ? '' : ' class="gone"'}>${cell(program(one), 'text')}${cell(one.processes)}${cell(one.exited)}${
          cell(one.killed)}${bytes(one.allocated_bytes)}${bytes(one.held_bytes)}${cell(one.ranks || null)}${rank(one.highest_rank)}${
          rank(one.lowest_rank)}${bytes(one.spread_bytes)}${
          one.last_oom === null ? '<td>-</td>' : `<td class="bad">${escape(clock(one.last_oom))}</td>`}</tr>`).join('');
}

function processes(rows) {
  const sorted = [...rows].sort((a, b) => (b.held_bytes || 0) - (a.held_bytes || 0));
  return titles('ID', 'PID', 'RANK', 'DEVICE', 'STATE', 'ALLOCATED', 'PEAK', 'RESERVED', 'HELD', 'LIMIT', 'HIT%', 'OOMS', 'PROGRAM') +
      sorted.map(row => `<tr data-id="${escape(row.id)}" data-device="${escape(row.device || '')}"${
          row.state === 'live' || row.state === 'stopped' ? '' : ' class="gone"'}>${cell(row.id)}${cell(row.pid)}${cell(row.rank)}${
          cell(row.device)}${cell(row.state)}${bytes(row.allocated_bytes)}${bytes(row.peak_bytes)}${bytes(row.reserved_bytes)}${
          bytes(row.held_bytes)}${bytes(row.limit_bytes)}${
          cell(row.hit_percent === null || row.hit_percent === undefined ? null : row.hit_percent.toFixed(1))}${
          row.ooms ? `<td class="bad">${row.ooms}</td>` : cell(row.ooms)}${cell(program(row), 'text')}</tr>`).join('');
}

function draw(now) {
  document.title = 'Tidemark: ' + now.host;
  const more = [now.rows_left_out ? `${grouped(now.rows_left_out)} rows are left out here` : '',
                now.unreadable ? `${grouped(now.unreadable)} processes of other users can't be read` : ''].filter(text => text);
  document.getElementById('head').textContent = `${now.host} · ${clock(now.time)}`;
  document.getElementById('page').innerHTML = `<h2>Devices</h2>${
      now.devices.length ? `<div class="devices">${now.devices.map(deviceCard).join('')}</div>` +
          '<p class="key"><i style="background:var(--held)"></i>held by programs<i style="background:var(--pending)"></i>not ours; in the graph: used by everybody</p>'
      : '<p>No process with a device. Start one with: tidemark run -- CMD</p>'}` +
      (now.groups.length ? `<h2>Programs</h2><section><div><table>${groups(now.groups)}</table></div></section>` : '') +
      (now.rows.length ? `<h2>Processes</h2><section><div><table>${processes(now.rows)}</table></div></section>` : '') +
      more.map(text => `<p>${text}</p>`).join('');
}

let lastAnswer = null;
async function ask() {
  try {
    const answer = await fetch('live.json');
    if (!answer.ok) throw new Error('the exporter says ' + answer.status);
    draw(await answer.json());
    lastAnswer = Date.now();
  } catch (error) {
    document.getElementById('head').textContent = (lastAnswer === null ? 'no answer from the exporter'
        : `no answer from the exporter for ${length((Date.now() - lastAnswer) / 1000)}; these are its last numbers`);
  }
  setTimeout(ask, kEvery);
}
ask();
