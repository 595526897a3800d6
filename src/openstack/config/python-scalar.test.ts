import { describe, expect, it } from 'vitest';
import { pythonFloat, pythonScalar } from './python-scalar.ts';

describe('pythonScalar', () => {
  it.each([
    ['yes', true],
    ['Off', false],
    ['y', 'y'],
    ['', null],
    ['~', null],
    ['NULL', null],
    ['12', 12],
    ['-3', -3],
    ['1_000', 1000],
    ['0123', 83],
    ['0129', '0129'],
    ['0x1F', 31],
    ['0b101', 5],
    ['0o17', '0o17'],
    ['1:30', 90],
    ['1e5', '1e5'],
    ['12345678901234567890123456789012', '12345678901234567890123456789012'],
    ['83e12345678901234567890123456789', '83e12345678901234567890123456789'],
    ['3.0', '3.0'],
    ['2.10', '2.1'],
    ['1.5e+3', '1500.0'],
    ['.5', '0.5'],
    ['1:30.5', '90.5'],
    ['2024-01-01', '2024-01-01'],
    ['.inf', '.inf'],
    ['RegionOne', 'RegionOne'],
  ])('reads %j as PyYAML does', (text, value) => {
    expect(pythonScalar(text)).toBe(value);
  });

  it.each([
    [1e16, '1e+16'],
    [123456789012345680, '1.2345678901234568e+17'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [0.1, '0.1'],
    [1e15, '1000000000000000.0'],
    [0, '0.0'],
  ])('prints %d as Python does', (value, text) => {
    expect(pythonFloat(value)).toBe(text);
  });
});
