# Shows the log for at most $1 seconds, and copies what has been made.
for _ in $(seq 1 $(( $1 / 2 ))); do
  sleep 2
  [ -f /root/done ] && break
done
tail -n 40 /root/log; nvidia-smi | head -15 | tail -5; ls -la /root/made
[ "$2" = teacher ] && split -b 15000000 /root/made/teacher-12.safetensors $OUT/teacher-12.part-
[ -f /root/done ] && for one in rerank-5 rerank-3; do split -b 15000000 /root/made/$one.safetensors $OUT/$one.part-; done
true
