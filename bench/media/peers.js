// Runs one operation of a peer: node peers.js OPERATION FILE ITERATIONS. Prints the processor time of each iteration in
// milliseconds, and at the end the largest memory of the process in MB.
const fs = require('fs')
const [, , what, file, n] = process.argv
const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000 }
const ops = {
  async update() {
    const E = require('exceljs'), wb = new E.Workbook()
    await wb.xlsx.load(fs.readFileSync(file))
    const ws = wb.worksheets[0]
    for (let i = 2; i < 202; i++) ws.getCell('D' + i).value = i
    return (await wb.xlsx.writeBuffer()).byteLength
  },
  async read() {
    const E = require('exceljs'), wb = new E.Workbook()
    await wb.xlsx.load(fs.readFileSync(file))
    let k = 0
    wb.worksheets[0].eachRow(r => r.eachCell(() => k++))
    return k
  },
  async select() {
    const { PDFDocument } = require('pdf-lib')
    const src = await PDFDocument.load(fs.readFileSync(file)), out = await PDFDocument.create()
    for (const p of await out.copyPages(src, Array.from({ length: 50 }, (_, i) => 100 + i))) out.addPage(p)
    return (await out.save()).length
  },
  async text() {
    const at = process.env.NODE_PATH + '/pdfjs-dist/'
    const { getDocument } = await import(at + 'legacy/build/pdf.mjs')
    const doc = await getDocument({ data: new Uint8Array(fs.readFileSync(file)), standardFontDataUrl: at + 'standard_fonts/', verbosity: 0 }).promise
    let n = 0
    for (let i = 1; i <= doc.numPages; i++) for (const t of (await (await doc.getPage(i)).getTextContent()).items) n += t.str.length
    return n
  },
  async resize() {
    const sharp = require('sharp')
    return (await sharp(fs.readFileSync(file)).resize(1024).jpeg({ quality: 82 }).toBuffer()).length
  },
}
;(async () => {
  await ops[what]()
  for (let i = 0; i < +n; i++) {
    const c = cpu()
    const size = await ops[what]()
    console.log('cpu', (cpu() - c).toFixed(1), size)
  }
  console.log('rss', Math.round(process.resourceUsage().maxRSS / 1024))
})()
