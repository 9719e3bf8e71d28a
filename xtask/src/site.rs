//! Files on 127.0.0.1 for a browser: the one that a command opened, or a person's. The page may post what it finds to
//! `/report`. A request for `/held` is answered after that, so that a page which asks for it is not yet loaded.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use fs_err as fs;
use tiny_http::{Header, Request, Response, Server};

use crate::Result;
use crate::chromium::Browser;

pub(crate) struct Site {
    server: Server,
    pub(crate) url: String,
    folders: Vec<PathBuf>,
}

impl Site {
    /// Serves the files of the folders at this port, or at any port for 0.
    pub(crate) fn open(port: u16, folders: &[&Path]) -> Result<Self> {
        let address = format!("127.0.0.1:{port}");
        let server =
            Server::http(&address).map_err(|e| anyhow!("cannot listen at {address}: {e}"))?;
        let url = format!("http://{}/", server.server_addr());
        eprintln!("serving {url}");
        Ok(Self {
            server,
            url,
            folders: folders.iter().map(|&folder| folder.to_owned()).collect(),
        })
    }

    /// Serves until this program ends.
    pub(crate) fn serve(&self) -> Result<()> {
        loop {
            self.answer(self.server.recv()?, &mut |_| ());
        }
    }

    /// Serves `browser` until `is_last` has seen the last report.
    pub(crate) fn attend(
        &self,
        browser: &mut Browser,
        silence: Duration,
        mut is_last: impl FnMut(&str) -> bool,
    ) -> Result<()> {
        let mut heard = Instant::now();
        let mut held = None;
        let mut done = false;
        while !done {
            match self.server.recv_timeout(Duration::from_millis(200))? {
                Some(request) if request.url() == "/held" => held = Some(request),
                Some(request) => {
                    heard = Instant::now();
                    self.answer(request, &mut |text| done = is_last(text));
                }
                None if !browser.is_alive() => bail!("the browser ended early: see chromium.log"),
                None if heard.elapsed() > silence => {
                    bail!("the page said nothing for {} s", silence.as_secs());
                }
                None => {}
            }
        }
        held.map_or(Ok(()), |request| Ok(request.respond(Response::empty(204))?))
    }

    fn answer(&self, mut request: Request, report: &mut dyn FnMut(&str)) {
        let name = request.url().split('?').next().unwrap_or_default();
        let name = name.trim_start_matches('/').to_owned();
        let (status, body) = match name.as_str() {
            "report" => {
                let mut text = String::new();
                // If the page fails to send, its silence shows it.
                let _ = request.as_reader().read_to_string(&mut text);
                report(&text);
                (200, Vec::new())
            }
            "" => self.read("index.html"),
            name => self.read(name),
        };
        let header = |name: &str, value: &str| {
            Header::from_bytes(name, value).expect("the header is plain ASCII")
        };
        let response = Response::from_data(body)
            .with_status_code(status)
            .with_header(header("Content-Type", kind(&name)))
            .with_header(header("Cache-Control", "no-store"));
        // If the browser went away, its silence shows it.
        let _ = request.respond(response);
    }

    /// A file of a folder, and of no folder above it.
    fn read(&self, name: &str) -> (u16, Vec<u8>) {
        let is_below = |part: Component| matches!(part, Component::Normal(_));
        let paths = self.folders.iter().map(|folder| folder.join(name));
        let found = Path::new(name).components().all(is_below);
        let found = found.then(|| paths.filter_map(|path| fs::read(path).ok()).next());
        match found.flatten() {
            Some(bytes) => (200, bytes),
            None => (404, b"no such page".into()),
        }
    }
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "js")) => "text/javascript",
        Some((_, "css")) => "text/css",
        Some((_, "wasm")) => "application/wasm",
        Some((_, "wgsl" | "json")) => "text/plain",
        _ => "text/html",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    /// Sends a request and returns the answer, and what was reported.
    fn exchange(line: &str, body: &str) -> (String, String) {
        let site = Site::open(0, &[&crate::process::root().join("xtask/webgpu")]).unwrap();
        let address = site.server.server_addr().to_ip().unwrap();
        // Browsers open connections that they never use. Such a connection does not block the others.
        let _unused = TcpStream::connect(address).unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        let head = format!("{line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        write!(client, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let request = site.server.recv_timeout(Duration::from_secs(10)).unwrap();
        let mut reported = String::new();
        site.answer(request.unwrap(), &mut |text| reported.push_str(text));
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        (text, reported)
    }

    #[test]
    fn the_page_and_its_report_are_exchanged() {
        let (page, _) = exchange("GET /?test", "");
        assert!(page.starts_with("HTTP/1.1 200 ") && page.ends_with("</html>\n"));
        let (script, _) = exchange("GET /webgpu.js", "");
        assert!(script.contains("Content-Type: text/javascript"));
        let (_, reported) = exchange("POST /report", "done");
        assert_eq!(reported, "done");
        for line in ["GET /Cargo.toml", "GET /../Cargo.toml", "GET /0.wgsl"] {
            let (answer, _) = exchange(line, "");
            assert!(answer.starts_with("HTTP/1.1 404 "), "{line}: {answer}");
        }
    }
}
