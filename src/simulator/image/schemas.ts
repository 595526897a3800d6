import type { Route } from '../core/service.ts';

const text = (description: string): object => ({ type: ['null', 'string'], description });

/** Attributes of an image, which clients fetch before they show or change one. */
const imageSchema: Readonly<Record<string, unknown>> = {
  name: 'image',
  properties: {
    id: { type: 'string', description: 'An identifier for the image' },
    name: text('Descriptive name for the image'),
    status: { readOnly: true, type: 'string', description: 'Status of the image' },
    visibility: { type: 'string', enum: ['community', 'public', 'private', 'shared'] },
    protected: { type: 'boolean', description: 'If true, image will not be deletable.' },
    os_hidden: { type: 'boolean', description: 'If true, image will not appear in default image list response.' },
    checksum: { readOnly: true, ...text('md5 hash of image contents.') },
    os_hash_algo: { readOnly: true, ...text('Algorithm to calculate the os_hash_value') },
    os_hash_value: { readOnly: true, ...text('Hexdigest of the image contents') },
    owner: text('Owner of the image'),
    size: { readOnly: true, type: ['null', 'integer'], description: 'Size of image file in bytes' },
    virtual_size: { readOnly: true, type: ['null', 'integer'], description: 'Virtual size of image in bytes' },
    container_format: text('Format of the container'),
    disk_format: text('Format of the disk'),
    created_at: { readOnly: true, type: 'string' },
    updated_at: { readOnly: true, type: 'string' },
    tags: { type: 'array', items: { type: 'string', maxLength: 255 } },
    min_ram: { type: 'integer' },
    min_disk: { type: 'integer' },
    self: { readOnly: true, type: 'string' },
    file: { readOnly: true, type: 'string' },
    schema: { readOnly: true, type: 'string' },
  },
  additionalProperties: { type: 'string' },
  links: [
    { rel: 'self', href: '{self}' },
    { rel: 'enclosure', href: '{file}' },
    { rel: 'describedby', href: '{schema}' },
  ],
};

const memberSchema: Readonly<Record<string, unknown>> = {
  name: 'member',
  properties: {
    member_id: { type: 'string', description: 'An identifier for the image member (tenantId)' },
    image_id: { type: 'string', description: 'An identifier for the image' },
    created_at: { type: 'string', description: 'Date and time of image member creation' },
    updated_at: { type: 'string', description: 'Date and time of last modification of image member' },
    status: {
      type: 'string',
      description: 'The status of this image member',
      enum: ['pending', 'accepted', 'rejected'],
    },
    schema: { readOnly: true, type: 'string' },
  },
};

export const schemaRoutes: readonly Route[] = [
  { method: 'GET', path: '/v2/schemas/member', handle: () => ({ status: 200, body: memberSchema }) },
  {
    method: 'GET',
    path: '/v2/schemas/members',
    handle: () => ({
      status: 200,
      body: {
        name: 'members',
        properties: { members: { type: 'array', items: memberSchema }, schema: { type: 'string' } },
        links: [{ rel: 'describedby', href: '{schema}' }],
      },
    }),
  },
  { method: 'GET', path: '/v2/schemas/image', handle: () => ({ status: 200, body: imageSchema }) },
  {
    method: 'GET',
    path: '/v2/schemas/images',
    handle: () => ({
      status: 200,
      body: {
        name: 'images',
        properties: { images: { type: 'array', items: imageSchema }, first: text(''), next: text('') },
        links: [
          { rel: 'first', href: '{first}' },
          { rel: 'next', href: '{next}' },
          { rel: 'describedby', href: '{schema}' },
        ],
      },
    }),
  },
];
