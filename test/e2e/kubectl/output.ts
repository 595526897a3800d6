import { expect } from 'vitest';

/** The cells of a table as kubectl prints it; a cell never holds two spaces in a row. */
export function table(stdout: string): string[][] {
  return lines(stdout).map((line) => line.trimEnd().split(/ {2,}/));
}

/** Lines without the last newline. */
export function lines(stdout: string): string[] {
  const trimmed = stdout.replace(/\n$/, '');
  return trimmed === '' ? [] : trimmed.split('\n');
}

/** A cell that holds the age of something just made. */
export const age: string = expect.stringMatching(/^\d+s$/) as string;
