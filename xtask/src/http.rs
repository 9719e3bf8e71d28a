//! A web server for one page on this machine: requests arrive on a channel, one at a time, each answered by its holder.
//!
//! Every connection has a thread that reads one request, because browsers open some that they never use.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::Result;

/// The longest body that is read.
const MAX_BODY: usize = 16 << 20;

pub(crate) struct Request {
    /// With the leading slash, without the query.
    pub(crate) path: String,
    pub(crate) body: String,
    stream: TcpStream,
}

/// Listens on a free port of the loopback interface.
pub(crate) fn listen() -> Result<(u16, Receiver<Request>)> {
    let io = |e: std::io::Error| format!("cannot listen on 127.0.0.1: {e}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(io)?;
    let port = listener.local_addr().map_err(io)?.port();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender: Sender<Request> = sender.clone();
            thread::spawn(move || {
                // A request that cannot be read has nobody to tell: the page sees a closed connection.
                if let Some(request) = read(stream) {
                    let _ = sender.send(request);
                }
            });
        }
    });
    Ok((port, requests))
}

fn read(stream: TcpStream) -> Option<Request> {
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .ok()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let target = line.split(' ').nth(1)?;
    let path = target.split('?').next()?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    if length > MAX_BODY {
        return None;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        path,
        body: String::from_utf8_lossy(&body).into_owned(),
        stream: reader.into_inner(),
    })
}

impl Request {
    /// Answers and closes. A browser that went away is not an error here: it is noticed by its silence.
    pub(crate) fn answer(mut self, status: &str, content_type: &str, body: &[u8]) {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _ = self.stream.write_all(head.as_bytes());
        let _ = self.stream.write_all(body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(request: &str) -> (Request, TcpStream) {
        let (port, requests) = listen().unwrap();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        // An unused connection does not block the others.
        let _unused = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let request = requests.recv_timeout(Duration::from_secs(10)).unwrap();
        (request, client)
    }

    #[test]
    fn a_request_is_read_and_answered() {
        let post = "POST /report?x=1 HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\n\r\nhello";
        let (request, mut client) = exchange(post);
        assert_eq!(
            (request.path.as_str(), request.body.as_str()),
            ("/report", "hello")
        );
        request.answer("200 OK", "text/plain", b"yes");
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nyes"));
    }

    #[test]
    fn a_request_without_a_body_has_an_empty_one() {
        let (request, _client) = exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((request.path.as_str(), request.body.as_str()), ("/", ""));
    }
}
