import type { Duplex } from 'node:stream';
import { type Frame, pingFrame, readFrames, replyFrame, resetFrame, resetStatus } from './frames.ts';
import { createHeaderBlockReader, emptyHeaderBlock, type SpdyHeaders } from './header-block.ts';
import { SpdyProtocolError } from './protocol-error.ts';
import { SpdyStream } from './stream.ts';

/** Limit of open streams, because each one costs memory. */
const maxStreams = 1_000;

export interface SpdyService {
  /** whether the service knows a stream with these headers; unknown streams are reset */
  accepts(headers: SpdyHeaders): boolean;
  serve(stream: SpdyStream): void;
}

/**
 * Serves SPDY/3.1 as Kubernetes uses it. The client opens all streams and there is no flow control per stream, so one
 * slow reader blocks the connection. All streams end with the connection.
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
    // A stream may fail before its handler listens for errors.
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
        // Even ids are pings of the server itself.
        if (frame.id % 2 === 1) send(pingFrame(frame.id));
        return undefined;
      case 'go-away':
        // The client opens no more streams; existing streams continue until it closes the connection.
        return undefined;
    }
  };

  const run = async (): Promise<void> => {
    const headerBlocks = createHeaderBlockReader();
    try {
      for await (const frame of readFrames(connection, headerBlocks)) {
        // Most frames need no waiting, and awaiting each one would cost more than handling it.
        const room = handle(frame);
        if (room) await room;
      }
    } catch {
      // A broken connection and a protocol error end the same way; there is no peer to report to.
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
