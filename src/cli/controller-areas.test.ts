import { describe, expect, it } from 'vitest';
import { controllerAreas, parseControllerAreas } from './controller-areas.ts';

describe('--controllers', () => {
  it.each([
    ['all', [...controllerAreas]],
    ['*', [...controllerAreas]],
    ['none', []],
    ['cluster', ['cluster']],
    ['cluster, bootstrap', ['cluster', 'bootstrap']],
    ['-infrastructure', ['cluster', 'bootstrap', 'control-plane']],
    ['all,-bootstrap,-control-plane', ['cluster', 'infrastructure']],
    ['-cluster,all', ['infrastructure', 'bootstrap', 'control-plane']],
    ['cluster,-cluster', []],
  ])('"%s" runs %j', (text, areas) => {
    expect([...parseControllerAreas(text)]).toEqual(areas);
  });

  it.each([
    ['machines', 'there are no controllers named "machines"'],
    ['-machines', 'there are no controllers named "machines"'],
    ['none,cluster', '"none" stands alone'],
    [' , ', 'it names nothing'],
  ])('"%s" is refused: %s', (text, problem) => {
    expect(() => parseControllerAreas(text)).toThrow(`--controllers: ${problem}`);
  });
});
