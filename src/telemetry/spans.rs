//! A span per request for a collector that speaks OTLP over HTTP. Without one a request pays for
//! one look at an empty option.
//!
//! A span is made when the request has ended, from what is known of it anyway: route, status,
//! tenant, sequence, and where the time went; never a path, a key, or anything of a body. A trace
//! that the caller began (`traceparent`) goes on, recorded or not as the caller decided; others are
//! recorded one in so many. What the collector does not take in time is dropped: it must not hold
//! up payments.

use crate::config::Telemetry;
use hyper::header::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{Span, SpanKind, Status, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider,
};
use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// More are dropped.
const WAITING_MAX: usize = 16_384;
const BATCH_MAX: usize = 2_048;
/// Between two batches that are not full.
const BATCH_EVERY: Duration = Duration::from_secs(2);
const SEND: Duration = Duration::from_secs(5);
const STOP: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
#[error("telemetry.otlp_endpoint: {0}")]
pub struct CollectorError(#[from] ExporterBuildError);

pub struct Spans {
    tracer: SdkTracer,
    provider: SdkTracerProvider,
    propagator: TraceContextPropagator,
}

pub struct Trace<'s> {
    spans: &'s Spans,
    parent: Context,
    began: (SystemTime, Instant),
}

pub struct RequestSummary<'t> {
    pub method: &'t str,
    pub route: &'static str,
    pub status: u16,
    pub request_id: &'t str,
    pub tenant: Option<String>,
    pub wal_seq: Option<u64>,
    /// Microseconds until its turn, in it, and until its record was durable.
    pub timing_us: Option<[u64; 3]>,
}

impl Spans {
    /// `None` if no collector is configured. Has a thread of its own; not to be called in a runtime.
    pub fn start(config: &Telemetry) -> Result<Option<Spans>, CollectorError> {
        let Some(endpoint) = &config.otlp_endpoint else { return Ok(None) };
        // A second call finds it installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(traces(endpoint))
            .with_timeout(SEND)
            .build()?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_MAX)
            .with_max_export_batch_size(BATCH_MAX)
            .with_scheduled_delay(BATCH_EVERY);
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(batches.build()).build();
        let share = f64::from(config.sample_one_in).recip();
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share)));
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource =
            Resource::builder_empty().with_service_name("pasarela").with_attribute(version).build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(batches)
            .with_sampler(sampler)
            .with_resource(resource)
            .build();
        Ok(Some(Spans {
            tracer: provider.tracer("pasarela"),
            provider,
            propagator: TraceContextPropagator::new(),
        }))
    }

    pub fn begin(&self, headers: &HeaderMap) -> Trace<'_> {
        let parent = self.propagator.extract_with_context(&Context::new(), &Headers(headers));
        Trace { spans: self, parent, began: (SystemTime::now(), Instant::now()) }
    }

    /// Not to be called in a runtime.
    pub fn stop(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(STOP) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spans")
    }
}

impl Trace<'_> {
    pub fn end(self, summary: RequestSummary<'_>) {
        let tracer = &self.spans.tracer;
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let mut attributes = Vec::with_capacity(9);
        attributes.push(KeyValue::new("http.request.method", summary.method.to_owned()));
        attributes.push(KeyValue::new("http.route", summary.route));
        attributes.push(KeyValue::new("http.response.status_code", i64::from(summary.status)));
        attributes.push(KeyValue::new("pasarela.request_id", summary.request_id.to_owned()));
        attributes.extend(summary.tenant.map(|tenant| KeyValue::new("pasarela.tenant_id", tenant)));
        attributes.extend(summary.wal_seq.map(|seq| KeyValue::new("pasarela.wal_seq", number(seq))));
        if let Some([queue, apply, wal]) = summary.timing_us {
            attributes.push(KeyValue::new("pasarela.queue_us", number(queue)));
            attributes.push(KeyValue::new("pasarela.apply_us", number(apply)));
            attributes.push(KeyValue::new("pasarela.wal_us", number(wal)));
        }
        let (started, since) = self.began;
        let builder =
            tracer.span_builder(format!("{} {}", summary.method, summary.route)).with_kind(SpanKind::Server);
        let mut span = builder
            .with_start_time(started)
            .with_attributes(attributes)
            .start_with_context(tracer, &self.parent);
        if summary.status >= 500 {
            span.set_status(Status::error(""));
        }
        // The monotonic clock measures: a wall clock that is set meanwhile makes no long span of a
        // short one.
        span.end_with_timestamp(started + since.elapsed());
    }
}

/// An address without a path is the collector itself (the OTLP exporter's specification, "Endpoint
/// URLs for OTLP/HTTP").
fn traces(endpoint: &str) -> String {
    let base = endpoint.trim_end_matches('/');
    let has_path = base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    if has_path { endpoint.to_owned() } else { format!("{base}/v1/traces") }
}

struct Headers<'h>(&'h HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_without_a_path_is_asked_where_the_standard_says() {
        let cases = [
            ("http://collector:4318", "http://collector:4318/v1/traces"),
            ("http://collector:4318/", "http://collector:4318/v1/traces"),
            ("https://api.example.com/otlp/v1/traces", "https://api.example.com/otlp/v1/traces"),
        ];
        cases.into_iter().for_each(|(given, asked)| assert_eq!(traces(given), asked));
    }
}
