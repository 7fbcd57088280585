"""What the tests' small HTTP servers have in common."""

from http.server import BaseHTTPRequestHandler


class QuietHandler(BaseHTTPRequestHandler):
    """Answers in one piece and logs nothing. Handlers name the base beside it: its `do_POST` is what linters know."""

    def read_data(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def send_data(self, status: int, data: bytes, **headers: str) -> None:
        """Names of headers with _ for -."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass
