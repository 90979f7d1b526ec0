import { type DatasetRequest, reasonMaxLength } from '@lamina/contract';
import { Button, Group, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { announce } from '../../announce.ts';
import { answerRequest } from '../../api/datasets.ts';
import { formatDateAndTime } from '../../dates.ts';
import { nameOf } from '../../person.ts';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

/** What somebody asks for, and the answer; a refusal may say why. */
export function DatasetRequestItem({ request }: { readonly request: DatasetRequest }) {
  const [isRefusing, setRefusing] = useState(false);
  const [reason, setReason] = useState('');
  const reasonField = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isRefusing) reasonField.current?.focus();
  }, [isRefusing]);
  const answer = useMutation({
    mutationFn: (granted: boolean) => answerRequest(request.id, granted, granted ? '' : reason.trim()),
    onSuccess: announce,
  });

  return (
    <li className={classes.request}>
      <div>
        <Text fw={600}>{nameOf(request)}</Text>
        <Text size="sm">
          {nameOf(request) === request.email ? '' : `${request.email} · `}
          {formatDateAndTime(request.at)}
        </Text>
      </div>
      <p className={classes.reason}>{request.reason}</p>
      {isRefusing && (
        <Textarea
          label={texts.refusalReason}
          rows={2}
          resize="vertical"
          maxLength={reasonMaxLength}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          ref={reasonField}
        />
      )}
      <Group gap="xs">
        {!isRefusing && (
          <Button size="sm" loading={answer.isPending} onClick={() => answer.mutate(true)}>
            {texts.accept}
          </Button>
        )}
        <Button
          size="sm"
          variant={isRefusing ? 'filled' : 'default'}
          {...(isRefusing && { color: 'eosin' })}
          disabled={answer.isPending}
          onClick={() => (isRefusing ? answer.mutate(false) : setRefusing(true))}
        >
          {texts.refuse}
        </Button>
        {isRefusing && (
          <Button size="sm" variant="default" disabled={answer.isPending} onClick={() => setRefusing(false)}>
            {texts.cancel}
          </Button>
        )}
      </Group>
    </li>
  );
}
