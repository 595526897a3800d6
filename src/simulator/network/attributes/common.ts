import type { Attribute, Attributes } from './attribute.ts';
import { string, uuid } from './checks.ts';
import { toBoolean } from './converters.ts';

// Attributes shared by many resources.

export const id: Attribute = { filter: true, sort: true, check: uuid };
export const name: Attribute = {
  create: true,
  update: true,
  default: '',
  check: string(255),
  filter: true,
  sort: true,
};
export const requiredName: Attribute = {
  create: true,
  update: true,
  required: true,
  check: (value) =>
    string(255)(value) ?? ((value as string).trim() === '' ? `'${value}' Blank strings are not permitted` : undefined),
  filter: true,
  sort: true,
};
export const owner: Attribute = { create: true, required: true, check: string(255), filter: true, sort: true };
export const description: Attribute = { create: true, update: true, default: '', check: string(255), filter: true };
export const adminStateUp: Attribute = {
  create: true,
  update: true,
  default: true,
  convert: toBoolean,
  filter: true,
  sort: true,
};
export const readOnly: Attribute = {};
export const filterable: Attribute = { filter: true };
export const listable: Attribute = { filter: true, sort: true };

export const standardAttributes: Attributes = {
  revision_number: filterable,
  created_at: readOnly,
  updated_at: readOnly,
};

export const tagAttributes: Attributes = {
  tags: filterable,
  'tags-any': filterable,
  'not-tags': filterable,
  'not-tags-any': filterable,
};
