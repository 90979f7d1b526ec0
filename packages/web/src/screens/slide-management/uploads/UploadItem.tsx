import { Badge, Button, Group, Progress, Text } from '@mantine/core';
import { useState } from 'react';
import { messageOf } from '../../../api/client.ts';
import { cancelUpload } from '../../../api/uploads.ts';
import { SlideError } from '../../../components/slide-error/SlideError.tsx';
import { formatBytes } from '../../../formatting/format-bytes.ts';
import { announce } from '../../../notifications/notify.ts';
import { texts } from './texts.ts';
import classes from './UploadPanel.module.css';
import type { UploadListRow } from './upload-list-row.ts';
import { cancel, pause, removeFinished, resume } from './upload-queue.ts';

const badgeColours = { calm: 'haematoxylin', good: 'teal', bad: 'eosin' } as const; // haematoxylin is blue-purple, eosin is rose

interface UploadItemProps {
  readonly row: UploadListRow;
  /** False for 700 ms after rows have moved: buttons that remove an upload are disabled, because a click could hit the wrong row. */
  readonly isSettled: boolean;
}

/** A row in the list of uploads: the progress of an upload, its result and its actions. */
export function UploadItem({ row, isSettled }: UploadItemProps) {
  const { key, path, dataset, fileCount, sizeBytes, sentBytes, bytesPerSecond } = row;
  const { sentFiles, currentFile } = row;
  const [isCancelling, setCancelling] = useState(false);

  // The key of an upload that is not in the queue of this tab is its id on the server.
  const isOnlyOnServer = row.key === row.uploadId;

  async function cancelAndReport() {
    setCancelling(true);
    try {
      await cancel(key); // does nothing for an upload that is only on the server
      if (isOnlyOnServer) await cancelUpload(row.key);
    } catch (error) {
      announce({ success: false, message: messageOf(error, texts.cancelFailed) });
    }
    setCancelling(false); // by now, the list of uploads has been reloaded, so the row of a cancelled upload is gone
  }

  const handlers = {
    pause: () => pause(key),
    resume: () => resume(key),
    sendAgain: () => resume(key), // sends again only the file with the wrong checksum, which the server has discarded
    cancel: () => void cancelAndReport(),
    hide: () => removeFinished(key),
  };
  const percent = sentBytes === null || sizeBytes === 0 ? 0 : (sentBytes / sizeBytes) * 100;
  const isProgressing = bytesPerSecond !== null && bytesPerSecond > 0;

  return (
    <li className={classes.item}>
      <div className={classes.head}>
        <div className={classes.name}>
          <Text fw={600}>{path}</Text>
          <Text size="sm" c="dimmed">
            {texts.into(dataset)} · {formatBytes(sizeBytes)}
            {fileCount > 1 && ` · ${texts.filesOf(sentFiles, fileCount)}`}
          </Text>
        </div>
        <Badge variant="light" size="lg" color={badgeColours[row.tone]} style={{ flexShrink: 0 }}>
          {row.state}
        </Badge>
      </div>
      {row.detail !== null && (
        <Text size="sm" role={row.tone === 'bad' ? 'alert' : undefined}>
          {typeof row.detail === 'string' ? (
            row.detail
          ) : (
            <SlideError {...row.detail} languageBeforeChoice="tr" />
          )}
        </Text>
      )}
      {sentBytes !== null && (
        <>
          <Progress.Root size="md">
            <Progress.Section value={percent} aria-label={texts.progressOf(path)} />
          </Progress.Root>
          <Group justify="space-between" gap="xs">
            <Text size="sm" c="dimmed">
              {currentFile === null || fileCount === 1 ? '' : texts.nowSending(currentFile)}
            </Text>
            <Text size="sm" c="dimmed">
              {texts.sentOf(formatBytes(sentBytes), formatBytes(sizeBytes))}
              {isProgressing &&
                ` · ${texts.perSecond(formatBytes(bytesPerSecond))} · ${texts.remaining((sizeBytes - sentBytes) / bytesPerSecond)}`}
            </Text>
          </Group>
        </>
      )}
      {row.actions.length > 0 && (
        <Group gap="xs">
          {row.actions.map((action) => (
            <Button
              key={action}
              size="xs"
              variant="default"
              aria-label={texts.actionOn(texts[action], path)}
              disabled={(action === 'cancel' || action === 'hide') && (!isSettled || isCancelling)}
              onClick={handlers[action]}
            >
              {texts[action]}
            </Button>
          ))}
        </Group>
      )}
    </li>
  );
}
