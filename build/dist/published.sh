# For the other scripts of this folder: what Maven leaves out where only published modules are made.

# unpublished: the modules whose POM says that they are not deployed, as -pl wants them: !proof/bench,!show/flashsale,...
unpublished() {
  sed -n 's|.*<module>\(.*\)</module>.*|\1/pom.xml|p' pom.xml | xargs grep -l '<maven.deploy.skip>true' |
    sed 's|/pom.xml$||; s|^|!|' | paste -sd ,
}
