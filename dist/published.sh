# For the other scripts of this folder: what Maven leaves out where only published modules are made.

# unpublished: the modules whose POM says that they are not deployed, as -pl wants them: !bench,!build,...
unpublished() {
  grep -l '<maven.deploy.skip>true' */pom.xml stores/*/pom.xml | sed 's|/pom.xml$||; s|^|!|' | paste -sd ,
}
