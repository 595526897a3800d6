import { must } from '../../../machinery/index.ts';
/**
 * Set of indexes of an indexed Job, stored as ranges. A status may contain `0-2147483646`, and the set must not need
 * more memory than that text.
 */
export class IndexSet {
  /** sorted, disjoint and not adjacent; both ends are inclusive */
  #ranges: [from: number, to: number][] = [];

  /**
   * Parses the index list of a Job status, such as `0,2-4`. Ignores parts that are not numbers and numbers at or above
   * the limit.
   */
  static parse(text: string | undefined, limit: number): IndexSet {
    const set = new IndexSet();
    const ranges: [number, number][] = [];
    for (const part of (text ?? '').split(',')) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (!match) continue;
      const from = Number(match[1]);
      const to = Math.min(Number(match[2] ?? from), limit - 1);
      if (from <= to) ranges.push([from, to]);
    }
    for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
      const last = set.#ranges.at(-1);
      if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
      else set.#ranges.push([from, to]);
    }
    return set;
  }

  get size(): number {
    return this.#ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  }

  has(index: number): boolean {
    return this.firstOutside(index) !== index;
  }

  /** Returns the first number from `start` on that is not in the set. */
  firstOutside(start: number): number {
    const range = this.#ranges[this.#position(start)];
    return range && range[0] <= start ? range[1] + 1 : start;
  }

  add(index: number): void {
    if (this.has(index)) return;
    const position = this.#position(index);
    const before = this.#ranges[position - 1];
    const behind = this.#ranges[position];
    const touchesBefore = before !== undefined && before[1] === index - 1;
    const touchesBehind = behind !== undefined && behind[0] === index + 1;
    if (touchesBefore && touchesBehind) {
      before[1] = behind[1];
      this.#ranges.splice(position, 1);
    } else if (touchesBefore) before[1] = index;
    else if (touchesBehind) behind[0] = index;
    else this.#ranges.splice(position, 0, [index, index]);
  }

  /** Counts the numbers that are in both sets. */
  countShared(other: IndexSet): number {
    let shared = 0;
    let position = 0;
    for (const [from, to] of this.#ranges) {
      while ((other.#ranges[position]?.[1] ?? from) < from) position++;
      for (let next = position; ; next++) {
        const range = other.#ranges[next];
        if (range === undefined || range[0] > to) break;
        const [otherFrom, otherTo] = range;
        shared += Math.min(to, otherTo) - Math.max(from, otherFrom) + 1;
      }
    }
    return shared;
  }

  toString(): string {
    // Kubernetes writes two adjacent numbers as `1,2`, not as a range.
    return this.#ranges
      .map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`))
      .join(',');
  }

  /** Returns the position of the first range that does not end before the number. */
  #position(index: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (must(this.#ranges[middle], 'a range')[1] < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
