import { expect } from 'vitest';

/** Splits a kubectl table into cells. A cell never contains two consecutive spaces. */
export function table(stdout: string): string[][] {
  return lines(stdout).map((line) => line.trimEnd().split(/ {2,}/));
}

/** Returns the lines without the final newline. */
export function lines(stdout: string): string[] {
  const trimmed = stdout.replace(/\n$/, '');
  return trimmed === '' ? [] : trimmed.split('\n');
}

/** Matches the age of a new object. */
export const age: string = expect.stringMatching(/^\d+s$/) as string;
