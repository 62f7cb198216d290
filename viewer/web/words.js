'use strict';
// Numbers, sizes and times as the viewer writes them, and names that programs wrote made fit for a page.
const clean = text => String(text).replace(/[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, '');
const escape = text => clean(text).replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
const grouped = count => String(count).replace(/\B(?=(\d{3})+$)/g, ',');
const blocks = count => grouped(count) + (count === 1 ? ' block' : ' blocks');
const share = (part, whole) => whole === 0 ? '-' : (100 * part / whole).toFixed(1) + ' %';

// As every size of tidemark: powers of 1024, four digits of the rounded number.
function size(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  if (bytes < 1024) return bytes + ' B';
  for (let unit = 1;; ++unit) {
    const value = bytes / 1024 ** unit;
    if (Math.round(value) >= 1024 && unit + 1 < units.length) continue;
    for (let decimals = 3; decimals > 0; --decimals) {
      const scaled = Math.round(value * 10 ** decimals);
      if (scaled < 10000) return (scaled / 10 ** decimals).toFixed(decimals) + ' ' + units[unit];
    }
    return Math.round(value) + ' ' + units[unit];
  }
}
function length(seconds) {
  const s = Math.floor(seconds), two = number => String(number).padStart(2, '0');
  return s < 60 ? s + ' s' : s < 3600 ? Math.floor(s / 60) + ' min ' + two(s % 60) + ' s'
       : s < 86400 ? Math.floor(s / 3600) + ' h ' + two(Math.floor(s % 3600 / 60)) + ' min'
       : Math.floor(s / 86400) + ' d ' + Math.floor(s % 86400 / 3600) + ' h';
}
const clock = seconds => new Date(seconds * 1000).toLocaleString();
