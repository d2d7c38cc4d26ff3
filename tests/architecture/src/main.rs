//! Prints the structure of the sources: `cargo run -p limber-architecture`.

fn main() {
    match limber_architecture::report::of_workspace() {
        Ok(text) => print!("{text}"),
        Err(error) => {
            eprintln!("cannot read the sources: {error}");
            std::process::exit(1);
        }
    }
}
