import { must } from '../../../machinery/index.ts';

/** Five bits per level, so a leaf is a 32-bit word. */
const radixBits = 5;
const radix = 1 << radixBits;

interface Node {
  /** number of taken numbers below */
  taken: number;
  readonly children: (Node | Leaf | undefined)[];
}

interface Leaf {
  taken: number;
  bits: number;
}

/**
 * Set of taken numbers below a bound, as a sparse tree with counts per node. Taking, releasing and finding the n-th
 * free number take time proportional to the height: at most seven steps for 2^32 numbers.
 */
export class TakenSet {
  /** exclusive upper bound of the numbers */
  readonly size: number;
  readonly #height: number;
  #root: Node | Leaf | undefined;

  constructor(size: number) {
    if (size < 1 || size > 2 ** 32) throw new RangeError(`a set of ${size} numbers`);
    this.size = size;
    let height = 0;
    while (radix ** (height + 1) < size) height++;
    this.#height = height;
  }

  get taken(): number {
    return this.#root?.taken ?? 0;
  }

  get free(): number {
    return this.size - this.taken;
  }

  has(number: number): boolean {
    let node = this.#root;
    for (let level = this.#height; level > 0 && node; level--) node = (node as Node).children[digit(number, level)];
    return node !== undefined && ((node as Leaf).bits & (1 << digit(number, 0))) !== 0;
  }

  /** Returns whether the number was free. */
  add(number: number): boolean {
    if (this.has(number)) return false;
    this.#root ??= this.#newNode(this.#height);
    let node = this.#root;
    for (let level = this.#height; level > 0; level--) {
      node.taken++;
      const { children } = node as Node;
      const at = digit(number, level);
      children[at] ??= this.#newNode(level - 1);
      node = children[at];
    }
    node.taken++;
    (node as Leaf).bits |= 1 << digit(number, 0);
    return true;
  }

  /** Returns whether the number was taken. */
  delete(number: number): boolean {
    if (!this.has(number)) return false;
    let node = must(this.#root, 'root');
    for (let level = this.#height; level > 0; level--) {
      node.taken--;
      const { children } = node as Node;
      const at = digit(number, level);
      const child = must(children[at], 'children[at]');
      // The branch becomes empty.
      if (child.taken === 1) {
        children[at] = undefined;
        return true;
      }
      node = child;
    }
    node.taken--;
    (node as Leaf).bits &= ~(1 << digit(number, 0));
    return true;
  }

  /** Returns the free number with `rank` free ones before it, or undefined. */
  nthFree(rank: number): number | undefined {
    if (rank < 0 || rank >= this.free) return undefined;
    let node = this.#root;
    let number = 0;
    let left = rank;
    for (let level = this.#height; level > 0; level--) {
      const room = radix ** level;
      if (!node) return number + left;
      let at = 0;
      for (; at < radix - 1; at++) {
        const free = room - ((node as Node).children[at]?.taken ?? 0);
        if (left < free) break;
        left -= free;
      }
      number += at * room;
      node = (node as Node).children[at];
    }
    if (!node) return number + left;
    const { bits } = node as Leaf;
    for (let at = 0; at < radix; at++) {
      if ((bits & (1 << at)) !== 0) continue;
      if (left === 0) return number + at;
      left--;
    }
    return undefined;
  }

  #newNode(level: number): Node | Leaf {
    return level === 0 ? { taken: 0, bits: 0 } : { taken: 0, children: new Array<Node | undefined>(radix) };
  }
}

function digit(number: number, level: number): number {
  return Math.floor(number / radix ** level) % radix;
}
