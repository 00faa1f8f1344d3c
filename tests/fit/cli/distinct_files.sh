#!/bin/sh
# No output of a refinement is one of its inputs, in any spelling; nothing is touched before that is known.
set -u
"$DUALBRAGG" fit --help > /dev/null 2>&1 || {
    echo "this build has no refinement"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
cd "$work/run" || exit 1
failures=0

# refused NAME OUTPUT ARGUMENTS...: status 2, a message with both, and everything as it was
refused() {
    name=$1 output=$2
    shift 2
    before=$(ls -AR; cat ./*.yaml ./*.txt data/*.*)
    "$DUALBRAGG" fit "$@" > ../out 2> ../err
    status=$?
    [ $status -eq 2 ] && grep -q "output $output would replace the input of $name" ../err && [ "$(wc -l < ../err)" -eq 1 ] || {
        echo "FAILED: fit $*: status $status: $(cat ../err)"
        failures=$((failures + 1))
    }
    [ "$before" = "$(ls -AR; cat ./*.yaml ./*.txt data/*.*)" ] || {
        echo "FAILED: fit $*: files have changed"
        failures=$((failures + 1))
    }
}

cat > fit.yaml << 'END'
image: data/shot_1.cbf
model: {cell: [78, 78, 38, 90, 90, 90]}
refine: {misset_x: {range: 0.5}}
END
sed 's/^image.*/shots: {list: list.txt}/' fit.yaml > many.yaml
mkdir data data/all_shots
for ending in cbf yaml expt mat json html log hkl txt; do echo "some $ending" > data/set.$ending; done
echo "some shot" > data/all_shots/0001_first.yaml
echo "data/shot_1.cbf" > data/all_shots.txt
ln -s data/set.mat link.log
ln data/set.hkl hard.log
printf 'data/set.cbf\ndata/all_shots/0001_first.yaml\n' > list.txt

refused "the configuration fit.yaml" "fit.yaml" fit.yaml --output fit
refused "the configuration ./fit.yaml" "../run/fit.yaml" ./fit.yaml --output ../run/fit
refused "image data/set.json" "data/set.json" fit.yaml --image data/set.json --output data/set
refused "image data/shot_1.log" "$work/run/data/shot_1.log" fit.yaml image=data/shot_1.log --output "$work/run/data/shot_1"
for key in model.matrix model.expt data.mask data.hot_pixels data.reflections data.spots data.boxes model.spectrum; do
    refused "$key data/../data/set.expt" "data/set.expt" fit.yaml $key=data/../data/set.expt --output data/set
done
refused "intensity.hkl data/set.json" "data/set.json" fit.yaml intensity.hkl=data/set.json --output data/set
refused "model.matrix data/set.mat" "link.log" fit.yaml model.matrix=data/set.mat --output link
refused "data.spots data/set.hkl" "hard.log" fit.yaml data.spots=data/set.hkl --output hard

# many shots: the list, and what it lists
refused "shots.list data/all_shots.txt" "data/all_shots.txt" many.yaml shots.list=data/all_shots.txt --output data/all
refused "the configuration many.yaml" "many.yaml" many.yaml --output many
printf 'data/first.cbf\ndata/set.log\n' > list.txt
refused "shots.list data/set.log" "data/set.log" many.yaml --output data/set
printf 'first.yaml\n' > list.txt && ln -s data/all_shots/0001_first.yaml first.yaml
refused "shots.list first.yaml" "data/all_shots/0001_first.yaml" many.yaml --output data/all
# files that single lines name, and those that the configurations of shots name
echo 'data/first.cbf model.expt=data/set.expt data.mask=data/set.mat' > list.txt
refused "model.expt data/set.expt" "data/set.expt" many.yaml --output data/set
ln -s data/set.mat mask.json
refused "data.mask data/set.mat" "mask.json" many.yaml --output mask
printf 'image: first.cbf\nmodel: {cell: [78, 78, 38, 90, 90, 90], spectrum: set.hkl}\nrefine: {misset_x: }\n' > data/one.yaml
echo 'data/one.yaml' > list.txt
refused "model.spectrum data/set.hkl" "hard.log" many.yaml --output hard
echo '{"experiment": [{"imageset": 0}], "imageset": [{"images": ["first.cbf"]}]}' > run.expt
echo 'run.expt' > list.txt
refused "model.expt run.expt" "run.expt" many.yaml --output run
[ $failures -eq 0 ]
