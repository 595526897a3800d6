import type { RequestContext } from '../core/http/context.ts';
import { pageOf } from '../core/paging.ts';
import { Refusal } from '../core/refusal.ts';
import { need, type Operation, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { wholeSeconds, zulu } from '../core/time-formats.ts';
import type { Images, Task } from './images.ts';

const types: readonly unknown[] = ['import', 'export', 'clone'];
const lifeMs = 48 * 60 * 60 * 1000;

const job = 'image.task';

/** Routes of glance's tasks for operators. Only imports are supported, and nothing is downloaded. */
export function taskRoutes(images: Images): Route[] {
  const { core, tasks } = images;
  core.timings.declare({ 'image.task': [500, 1500] });
  core.jobs.define(job, (id) => {
    const task = tasks.get(id);
    if (task?.status !== 'pending') return;
    tasks.update(id, { updatedAt: core.now(), ...outcomeOf(images, task) });
  });
  const brief = (task: Readonly<Task>): object => ({
    id: task.id,
    type: task.type,
    status: task.status,
    owner: task.owner,
    created_at: zulu(task.createdAt),
    updated_at: zulu(task.updatedAt),
    ...(isOver(task) && { expires_at: zulu(task.updatedAt + lifeMs) }),
    self: `/v2/tasks/${task.id}`,
    schema: '/v2/schemas/task',
  });
  const full = (task: Readonly<Task>): object => ({
    ...brief(task),
    input: task.input,
    result: task.result,
    message: task.message,
  });
  const rules: Partial<Record<Operation, string>> = { list: 'get_tasks', create: 'add_task', show: 'get_task' };
  return [
    ...resourceRoutes<Task>({
      path: '/v2/tasks',
      policy: (operation) => ({ name: rules[operation] ?? '', level: 'admin' }),
      find: (context) => need(tasks, context.param('id'), (id) => new Refusal(404, `No task found with ID ${id}`)),
      view: full,
      list: (context) => list(images, context, brief),
      create(context) {
        const { type, input } = (context.json ?? {}) as { type?: unknown; input?: unknown };
        if (typeof input !== 'object' || input === null) throw new Refusal(400, "'input' is a required property");
        if (!types.includes(type)) throw new Refusal(400, `Invalid task type: ${String(type)}`);
        const now = core.now();
        const task = tasks.insert({
          id: core.ids.uuid(),
          type: type as string,
          status: 'pending',
          owner: context.project,
          input: input as Record<string, unknown>,
          result: null,
          message: '',
          createdAt: now,
          updatedAt: now,
        });
        core.jobs.schedule(core.timings.sample('image.task'), job, task.id);
        return task;
      },
      createdHeaders: ({ id }) => ({ location: `/v2/tasks/${id}` }),
    }),
    {
      method: 'GET',
      path: '/v2/images/{id}/tasks',
      policy: { name: 'get_image', level: 'reader' },
      handle: (context): Answer => ({
        status: 200,
        body: { tasks: [...tasks.by('image', images.find(context).id)].map(kept) },
      }),
    },
  ];
}

const isOver = ({ status }: Readonly<Task>): boolean => status === 'success' || status === 'failure';

/** Renders the task of an image as stored. */
function kept(task: Readonly<Task>): object {
  return {
    id: task.id,
    type: task.type,
    status: task.status,
    owner: task.owner,
    expires_at: isOver(task) ? wholeSeconds(task.updatedAt + lifeMs) : null,
    created_at: wholeSeconds(task.createdAt),
    updated_at: wholeSeconds(task.updatedAt),
    deleted_at: null,
    deleted: false,
    image_id: task.imageId,
    request_id: task.requestId,
    user_id: task.userId,
    input: task.input,
    result: task.result,
    message: task.message,
  };
}

const defaultPage = 25;

function list({ tasks }: Images, { query }: RequestContext, render: (task: Readonly<Task>) => object): Answer {
  const [type, status] = [query.get('type'), query.get('status')];
  const found = [...tasks.all()]
    .filter((task) => (type === undefined || task.type === type) && (status === undefined || task.status === status))
    .reverse();
  const limit = Number(query.get('limit') ?? defaultPage);
  if (!Number.isInteger(limit) || limit < 0) throw new Refusal(400, 'limit param must be an integer');
  const page = pageOf(found, { limit, marker: query.get('marker') });
  if (!page) throw new Refusal(404, `No task found with ID ${query.get('marker')}`);
  const last = page.items.at(-1);
  return {
    status: 200,
    body: {
      tasks: page.items.map(render),
      first: '/v2/tasks',
      schema: '/v2/schemas/tasks',
      ...(page.isFull && last && { next: `/v2/tasks?${query.with({ marker: last.id })}` }),
    },
  };
}

/** Runs a task. An import creates an image from its input, other types fail. */
function outcomeOf(images: Images, { type, input, owner }: Readonly<Task>): Partial<Task> {
  if (type !== 'import') return { status: 'failure', message: `Task type ${type} is not supported` };
  if (typeof input['import_from'] !== 'string') {
    return { status: 'failure', message: "Input does not contain 'import_from' field" };
  }
  const properties = (input['image_properties'] ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string, otherwise: string): string => String(properties[name] ?? otherwise);
  const id = images.core.services.image.createImage({
    name: text('name', ''),
    projectId: owner,
    diskFormat: text('disk_format', 'qcow2'),
    containerFormat: text('container_format', 'bare'),
    size: 0,
    properties: {},
  });
  return { status: 'success', result: { image_id: id } };
}
