//! The record's WGSL through naga, as wgpu hands it to Metal and to DirectX 12.
//!
//! naga's validator checks each module first. Neither compiler is at hand here: this shows only that naga can
//! express each module.

use super::record::{Module, record};
use naga::back::{hlsl, msl};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// Asserts that every module of the record has a form in both languages.
pub fn assert_all_lowered() {
    let record = record();
    let (mut metal, mut directx) = (0, 0);
    let mut refused = Vec::new();
    for module in &record.modules {
        match lowered(module) {
            Ok([msl, hlsl]) => {
                metal += msl.len();
                directx += hlsl.len();
            }
            Err(why) => refused.push(format!("{}: {why}", module.entry)),
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let modules = record.modules.len();
    println!("{modules} modules are {metal} bytes of MSL, {directx} bytes of HLSL");
}

/// A module in MSL and in HLSL.
fn lowered(module: &Module) -> Result<[String; 2], String> {
    // Browsers need the line. naga accepts plane operations without the line and refuses them with it.
    let source = module.source.replace("enable subgroups;", "");
    let parsed =
        naga::front::wgsl::parse_str(&source).map_err(|error| error.emit_to_string(&source))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&parsed)
        .map_err(|error| error.emit_to_string(&source))?;
    Ok([to_msl(&parsed, &info)?, to_hlsl(&parsed, &info)?])
}

fn to_msl(module: &naga::Module, info: &ModuleInfo) -> Result<String, String> {
    let options = msl::Options {
        lang_version: (2, 4),
        ..Default::default()
    };
    let (source, written) =
        msl::write_string(module, info, &options, &msl::PipelineOptions::default())
            .map_err(|error| format!("MSL: {error}"))?;
    for name in written.entry_point_names {
        name.map_err(|error| format!("MSL: {error}"))?;
    }
    Ok(source)
}

fn to_hlsl(module: &naga::Module, info: &ModuleInfo) -> Result<String, String> {
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_2,
        special_constants_binding: Some(hlsl::BindTarget::default()),
        ..Default::default()
    };
    let mut source = String::new();
    let pipeline = hlsl::PipelineOptions::default();
    let written = hlsl::Writer::new(&mut source, &options, &pipeline)
        .write(module, info, None)
        .map_err(|error| format!("HLSL: {error}"))?;
    for name in written.entry_point_names {
        name.map_err(|error| format!("HLSL: {error}"))?;
    }
    Ok(source)
}
