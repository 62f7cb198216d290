// What a browser would show of a report page, as words: node draw_page.js FILE. Runs the page's own script on a stand-in for
// the few things of a document that it uses. With a second argument also clicks on the flame graph's bar of that number.
'use strict';
const fs = require('fs');
const vm = require('vm');

const html = fs.readFileSync(process.argv[2], 'utf8');
const between = (begin, end) => html.slice(html.indexOf(begin) + begin.length, html.indexOf(end, html.indexOf(begin)));
const data = between('<script type="application/json" id="data">', '</script>');
const script = between('<script>\n', '</script>');

const elements = {};
const element = id => elements[id] ||= {id, style: {}, innerHTML: '', textContent: id === 'data' ? data : ''};
const document = {getElementById: element, addEventListener() {}, title: ''};
vm.runInNewContext(script, {document, innerWidth: 1200, innerHeight: 900, console});
if (process.argv[3]) {
  elements.flame0.onclick({target: {dataset: {node: process.argv[3]}}});
}

const words = text => text.replace(/<[^>]*>/g, ' ').replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&').replace(/\s+/g, ' ').trim();
console.log(document.title);
console.log(words(elements.page.innerHTML));
console.log(words(elements.flame0.innerHTML));
