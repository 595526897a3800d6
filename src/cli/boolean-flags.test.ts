import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { spellOutBooleans } from './boolean-flags.ts';

const program = new Command();
program
  .command('paint')
  .option('--grouping', '', true)
  .option('--no-grouping')
  .option('--echo')
  .option('--no-dashboard')
  .option('--selector <labels>');

describe('--flag=true and --flag=false', () => {
  it.each([
    ['--grouping=false', ['--no-grouping']],
    ['--grouping=true', ['--grouping']],
    ['--echo=true', ['--echo']],
    ['--echo=false', []],
    ['--dashboard=false', ['--no-dashboard']],
    ['--dashboard=true', []],
    ['--selector=true', ['--selector=true']],
    ['--unknown=false', ['--unknown=false']],
    ['--grouping=maybe', ['--grouping=maybe']],
    ['plain', ['plain']],
  ])('%s is read as %j', (word, words) => {
    expect(spellOutBooleans(['paint', word], program)).toEqual(['paint', ...words]);
  });

  it('arguments after -- are left unchanged', () => {
    expect(spellOutBooleans(['paint', '--', '--echo=false'], program)).toEqual(['paint', '--', '--echo=false']);
  });
});
