'use strict'
var http = require('http')
const { a, b } = require('./x')
exports.fromExports = function (x) { return x }
module.exports = app
app.use = function use(fn) {
  var inner = function () {}
}
Foo.prototype.bar = function () { return /}/.test('{') }
function* gen() { yield 1 }
async function wait() {}
class A extends B {
  static #p = 1
  constructor () { super() }
  get x () { return `${this.y ? `}` : '{'}` }
  set x (v) {}
  static async load (url) {
    if (url) { return 1 }
  }
  field = 3
  arrow = async (e) => {
    e()
  }
}
const view = ({ name }) => <div>don't {name}</div>
export const later = x => x + 1
let counter = 0, other = 1
define(['x'], function (x) { function hidden() {} })
!function () { function called() {} }()
;(function () {
  function iife() {}
}())
