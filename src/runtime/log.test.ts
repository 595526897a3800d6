import { describe, expect, it } from 'vitest';
import { describeError, jsonLogger, memoryLogger, nullLogger, terminalLogger } from './log.ts';

describe('logging', () => {
  it('writes one JSON object per line for machines', () => {
    const lines: string[] = [];
    const log = jsonLogger({ destination: { write: (line) => lines.push(line) } }).with({ controller: 'cluster' });
    log.info('Created server', { name: 'w', count: 3 });
    log.debug('not shown');
    expect(lines).toHaveLength(1);
    const { time, ...entry } = JSON.parse(lines[0]!) as Record<string, unknown>;
    expect(entry).toEqual({ level: 'info', controller: 'cluster', name: 'w', count: 3, message: 'Created server' });
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it('writes a readable line for people', () => {
    let text = '';
    const log = terminalLogger({
      write: (line) => (text += line),
      now: () => Date.UTC(2026, 0, 1, 12, 34, 56),
      level: 'debug',
    });
    log.warn('Quota is nearly used up', { project: 'team a', left: 2, nothing: undefined, list: ['x'] });
    log.error('Failed', { error: new Error('no route') });
    expect(text).toBe(
      '12:34:56 ▲ Quota is nearly used up project="team a" left=2 list=["x"]\n12:34:56 ✗ Failed error="no route"\n',
    );
  });

  it('writes no control characters to a terminal', () => {
    let text = '';
    const log = terminalLogger({ write: (line) => (text += line), now: () => 0 });
    log.warn('Failed', { error: new Error('\u001b[2Jgone\u0007'), name: 'a\u001b]0;t\u0007b', more: ['\u009b31m'] });
    expect(text).toBe('00:00:00 ▲ Failed error=gone name=ab more=[""]\n');
  });

  it('uses colours only when told to', () => {
    let text = '';
    terminalLogger({ write: (line) => (text += line), now: () => 0, colour: true }).info('hello');
    expect(text).toContain('\u001b[36m•');
  });

  it.each([
    ['a password', { password: 'x' }],
    ['a token in a nested header', { request: { headers: { Authorization: 'Bearer x' } } }],
    ['user data in a list', { servers: [{ user_data: 'x' }] }],
    ['a private key anywhere', { note: '-----BEGIN EC PRIVATE KEY-----\nx' }],
    ['a kubeconfig', { kubeconfig: 'x' }],
  ])('never writes %s', (_, fields) => {
    const { logger, entries } = memoryLogger();
    logger.info('message', fields);
    const text = JSON.stringify(entries);
    expect(text).toContain('[redacted]');
    expect(text).not.toMatch(/"x"|Bearer|BEGIN/);
  });

  it('accepts any value without failing', () => {
    const { logger, entries } = memoryLogger();
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    logger.error('message', { loop, big: 10n, when: new Date(0), run: () => 1 });
    expect(entries[0]!.fields).toMatchObject({ big: '10', when: '1970-01-01T00:00:00.000Z', run: '[function]' });
  });

  it('writes an error with its causes once', () => {
    const inner = new Error('connection refused');
    expect(describeError(new Error('cannot list servers', { cause: inner }))).toBe(
      'cannot list servers: connection refused',
    );
    expect(describeError(new Error('failed: connection refused', { cause: inner }))).toBe('failed: connection refused');
    expect(describeError('text')).toBe('text');
  });

  it('tells which levels are enabled', () => {
    expect(memoryLogger('warn').logger.isEnabled('info')).toBe(false);
    expect(memoryLogger('warn').logger.isEnabled('error')).toBe(true);
    expect(nullLogger.with({}).isEnabled('error')).toBe(false);
  });
});
