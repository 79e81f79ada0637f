"""Reads a trace export request from standard input with OpenTelemetry's own definitions and prints it as JSON."""
import base64
import json
import sys

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

request = MessageToDict(ExportTraceServiceRequest.FromString(sys.stdin.buffer.read()))
for resource in request["resourceSpans"]:
    for scope in resource["scopeSpans"]:
        for span in scope["spans"]:
            for name in ("traceId", "spanId", "parentSpanId"):
                if name in span:
                    span[name] = base64.b64decode(span[name]).hex()
json.dump(request, sys.stdout)
