"""A TCP proxy that can cut, delay, hold and refuse connections."""
import asyncio
import socket
import struct
import threading

UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Proxy:
    """Relays a loopback port to another one, on a thread of its own."""

    def __init__(self, target):
        self.target = target
        # Seconds that each portion of bytes is late; whether bytes are held back; whether new connections are rejected.
        self.delay, self.is_held, self.is_refusing = 0.0, False, False
        # Answered to every request instead of relaying it, as a load balancer without servers does.
        self.answer = None
        self._writers = set()
        self._loop = asyncio.new_event_loop()
        listening = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(listening,), daemon=True)
        self._thread.start()
        listening.wait()

    def cut(self):
        """Resets all connections."""
        self._loop.call_soon_threadsafe(self._reset)

    def heal(self):
        self.delay, self.is_held, self.is_refusing, self.answer = 0.0, False, False, None

    def _reset(self):
        for writer in list(self._writers):
            connection = writer.get_extra_info("socket")
            if connection is not None:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def _serve(self, listening):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        self._loop.run_forever()

    async def _accept(self, reader, writer):
        if self.is_refusing:
            writer.transport.abort()
            return
        if self.answer:
            await reader.read(65536)
            writer.write(self.answer)
            writer.close()
            return
        try:
            onward, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        await asyncio.gather(self._relay(reader, back), self._relay(onward, writer))
        self._writers -= {writer, back}

    async def _relay(self, reader, writer):
        try:
            while data := await reader.read(65536):
                if self.delay:
                    await asyncio.sleep(self.delay)
                while self.is_held:
                    await asyncio.sleep(0.05)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()
