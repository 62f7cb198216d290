// What a browser would show of the live page: node draw_live.js PAGE DOCUMENT. Runs the page's own script on a stand-in for the
// few things of a document that it uses; DOCUMENT is what the exporter answers, or `-`: it doesn't answer.
'use strict';
const fs = require('fs');
const vm = require('vm');

const html = fs.readFileSync(process.argv[2], 'utf8');
const begin = html.indexOf('<script>\n') + '<script>\n'.length;
const script = html.slice(begin, html.indexOf('</script>', begin));
const elements = {};
const document = {title: '', getElementById: id => elements[id] ||= {innerHTML: '', textContent: ''}};
const fetch = async path => {
  if (path !== 'live.json' || process.argv[3] === '-') throw new Error('nobody there');
  return {ok: true, json: async () => JSON.parse(fs.readFileSync(process.argv[3], 'utf8'))};
};
const print = () => console.log([document.title, elements.head.textContent, elements.page ? elements.page.innerHTML : ''].join('\n'));
// The page asks again after a while: here, by then everything is drawn.
vm.runInNewContext(script, {document, fetch, setTimeout: print, console, Date, Math, Error});
