import { describe, expect, it } from 'vitest';
import { controllerAreas, parseControllerAreas } from './controller-areas.ts';

const allBut = (...left: string[]): string[] => controllerAreas.filter((area) => !left.includes(area));

describe('--controllers', () => {
  it.each([
    ['all', [...controllerAreas]],
    ['*', [...controllerAreas]],
    ['none', []],
    ['cluster', ['cluster']],
    ['cluster, bootstrap', ['cluster', 'bootstrap']],
    ['-infrastructure', allBut('infrastructure')],
    ['all,-bootstrap,-control-plane', allBut('bootstrap', 'control-plane')],
    ['-cluster,all', allBut('cluster')],
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
