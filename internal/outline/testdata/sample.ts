import { a, b } from 'x'
export interface Shape<T = {}> extends Base {
  area(): number
  name: string
}
export type Id = string | { a: number }
const x = 1
export const add = (a: number, b: number): number => a + b
export const later = async () => {
  await 1
}
let re = /[{]"/g
export default class Foo<T> extends Bar implements Q {
  private readonly x = 1
  static y: Map<string, number> = new Map()
  constructor(private a: string) { super() }
  get value(): { a: string } { return { a: '' } }
  handle = (e: Event) => {
    if (e) { return }
  }
  async *gen() { yield `${'}'}` }
  #priv(a?: number): void {}
  abstract foo(): void
}
function outer<T>(a: T): T { function inner() {} return a }
enum Color { Red, Green }
namespace NS { export function f() {} }
declare module "m" { function g(): void }
export function over(a: string): void
export function over(a: any) {}
(function () {
  function iife() {}
})()
module.exports = { a, b() {} }
