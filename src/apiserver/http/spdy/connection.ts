import type { Duplex } from 'node:stream';
import { type Frame, pingFrame, readFrames, replyFrame, resetFrame, resetStatus } from './frames.ts';
import { createHeaderBlockReader, emptyHeaderBlock, type SpdyHeaders } from './header-block.ts';
import { SpdyProtocolError } from './protocol-error.ts';
import { SpdyStream } from './stream.ts';

/** Who opens more at once is refused: each of them costs memory here. */
const maxStreams = 1_000;

export interface SpdyService {
  /** whether a stream with these headers has a meaning; the others are reset */
  accepts(headers: SpdyHeaders): boolean;
  serve(stream: SpdyStream): void;
}

/**
 * The server's side of SPDY/3.1 as Kubernetes speaks it: the client opens all streams, they have no flow control of their
 * own, and a stream that is read slowly holds up the connection. Everything ends with the connection.
 */
export function serveSpdy(connection: Duplex, service: SpdyService): void {
  const streams = new Map<number, SpdyStream>();
  let lastStreamId = 0;
  let replied = false;

  const send = (frame: Buffer, sent?: () => void): void => {
    if (connection.writable) connection.write(frame, () => sent?.());
    else sent?.();
  };

  const open = (streamId: number, headers: SpdyHeaders, last: boolean): void => {
    if (streamId % 2 === 0 || streamId <= lastStreamId) {
      throw new SpdyProtocolError(`stream ${streamId} cannot be opened by a client after stream ${lastStreamId}`);
    }
    lastStreamId = streamId;
    if (streams.size >= maxStreams || !service.accepts(headers)) {
      send(resetFrame(streamId, resetStatus.refusedStream));
      return;
    }
    const stream = new SpdyStream(streamId, headers, { send, forget: () => streams.delete(streamId) });
    // a stream may be lost before whoever serves it listens for that
    stream.on('error', () => {});
    streams.set(streamId, stream);
    send(replyFrame(streamId, emptyHeaderBlock(!replied)));
    replied = true;
    if (last) void stream.receive(Buffer.alloc(0), true);
    service.serve(stream);
  };

  const handle = (frame: Frame): Promise<void> | undefined => {
    switch (frame.type) {
      case 'open':
        open(frame.streamId, frame.headers, frame.last);
        return undefined;
      case 'data':
        return streams.get(frame.streamId)?.receive(frame.data, frame.last);
      case 'reset':
        streams.get(frame.streamId)?.lose();
        return undefined;
      case 'ping':
        // even numbers are the server's own
        if (frame.id % 2 === 1) send(pingFrame(frame.id));
        return undefined;
      case 'go-away':
        // the client opens no more streams; those it has go on until it closes the connection
        return undefined;
    }
  };

  const run = async (): Promise<void> => {
    const headerBlocks = createHeaderBlockReader();
    try {
      for await (const frame of readFrames(connection, headerBlocks)) {
        // most frames need no waiting, and a promise for each would cost more than they do
        const room = handle(frame);
        if (room) await room;
      }
    } catch {
      // a broken connection and one that does not speak the protocol end alike: there is nobody to tell
    } finally {
      headerBlocks.close();
      connection.destroy();
    }
  };
  connection.on('error', () => connection.destroy());
  connection.once('close', () => {
    for (const stream of [...streams.values()]) stream.lose();
  });
  void run();
}
